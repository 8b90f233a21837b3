# What was built with other flags, another compiler or another toolkit is built again: build/flags.NAME holds the flags of the last
# build and is written when they have changed. There are several, so that getting Catch2 later does not build lessons again.

TOOLCHAIN := $(COMPILER) $(CXX) $(CUDA_INCLUDE) $(CUDA_VERSION) $(TOOLKIT) $(CXXFLAGS) $(LDFLAGS)
BUILT_WITH.lessons := $(TOOLCHAIN) $(LESSON_FLAGS) $(DRIVER) $(NVCC) $(NVCC_FLAGS)
BUILT_WITH.tests := $(TOOLCHAIN) $(TEST_FLAGS) $(CATCH_LIBS)
BUILT_WITH.torch := $(TOOLCHAIN) $(TORCH_FLAGS) $(TORCH)

# `make -n` writes nothing.
DRY_RUN := $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS))))
# strip: for texts of some lengths, GNU make 4.3 forgets to remove a file's last newline.
kept_text = $(strip $(file <$1))
define stamp
ifneq ($$(call kept_text,build/flags.$1),$$(strip $$(BUILT_WITH.$1)))
$(if $(DRY_RUN),.PHONY: build/flags.$1,$$(file >build/flags.$1,$$(BUILT_WITH.$1)))
endif
build/flags.$1: ;
endef
ifneq ($(wildcard build/setup.mk),)
$(foreach name,lessons tests torch,$(eval $(call stamp,$(name))))
endif

# No object is an intermediate file: make deletes none of them.
.SECONDARY:
