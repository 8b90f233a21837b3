# tests/compilers: the same sources through every compiler of PTX that is here, as <source>.<compiler>-<variant>.ptx.

PTX_OF := build/tests/compilers
FLAGS.nvcc-G := -G -arch=compute_90
FLAGS.nvcc-O0 := -Xcicc -O0 -arch=compute_75
FLAGS.nvcc-75 := -arch=$(PTX_ARCH)
FLAGS.nvcc-80 := -arch=compute_80 -lineinfo
FLAGS.nvcc-90a := -arch=compute_90a -rdc=true
FLAGS.nvcc-fast := -arch=compute_86 --use_fast_math
FLAGS.clang-O0 := --cuda-gpu-arch=sm_60 -O0
FLAGS.clang-O3 := --cuda-gpu-arch=sm_80 -O3
FLAGS.clang-fast := --cuda-gpu-arch=sm_70 -O2 -ffast-math -g
CLANG_PTX := $(shell clang++ -print-targets 2>/dev/null | grep -qw nvptx64 && echo clang++)
# What nvcc writes with -G names the folder, and is not valid with a quotation mark in it.
PTX_WHOLE := $(if $(findstring ",$(CURDIR)),,G)
PTX_VARIANTS := $(if $(WITHOUT_HOST_NVCC),,$(if $(NVCC),\
    $(addprefix language.nvcc-,$(PTX_WHOLE) O0 75 80 90a fast) $(addprefix library.nvcc-,$(PTX_WHOLE) 80 90a))) \
  $(if $(CLANG_PTX),$(addprefix language.clang-,O0 O3 fast))

variant = $(lastword $(subst ., ,$*))
$(PTX_OF)/%.ptx: tests/compilers/sources/$$(word 1,$$(subst ., ,$$*)).cu tests/compilers/sources/language.h build/flags.lessons \
    common/make/compilers.mk
	@mkdir -p $(@D)$(if $(QUIET), && printf '  %-9s %s\n' ptx $@)
	$(Q)$(call ptx_by.$(firstword $(subst -, ,$(variant))),$(FLAGS.$(variant))) $< -o $@
ptx_by.nvcc = $(NVCC) -ptx $(filter-out -arch=% -lineinfo -MMD -MP,$(NVCC_FLAGS)) $1
ptx_by.clang = $(CLANG_PTX) -x cuda -nocudainc -nocudalib --cuda-device-only -Wno-unknown-cuda-version -std=c++17 \
  -DWITHOUT_CUDA_HEADERS -DWITHOUT_WIDE_DIVISION -S $1

$(PTX_OF)/variants.txt: $(PTX_VARIANTS:%=$(PTX_OF)/%.ptx)
	$(Q)mkdir -p $(@D) && printf '%s\n' $(notdir $^) > $@
# OpenMP target regions by GCC: its assembler asks any ptxas in the path about architectures that new ones do not know.
OFFLOAD_GCC := $(firstword $(patsubst %,gcc-%,$(notdir $(patsubst %/accel/nvptx-none/mkoffload,%,\
  $(wildcard /usr/lib/gcc/*/*/accel/nvptx-none/mkoffload)))))
# -no-pie: the linker warns that GCC's table of offloaded variables is writable in a program that can be moved.
$(PTX_OF)/openmp: tests/compilers/sources/openmp.c
	$(call step,offload)
	$(Q)PATH=/usr/bin:/bin $(OFFLOAD_GCC) -O2 -fno-pie -no-pie -fopenmp -foffload=nvptx-none -foffload-options=-lm $< -o $@ -lm

# Where NVRTC may be, and what it is to compile.
NVRTC := $(wildcard $(addprefix $(dir $(CUDA_INCLUDE)),lib64/libnvrtc.so* lib/libnvrtc.so* ../cuda_nvrtc/lib/libnvrtc.so*))
$(PTX_OF)/nvrtc.txt: tests/compilers/sources/language.cu tests/compilers/sources/language.h build/flags.lessons
	$(Q)mkdir -p $(@D)/sources && cp $(filter tests/%,$^) $(@D)/sources/
	$(Q)printf '%s\n' $(abspath $(NVRTC)) libnvrtc.so.13 libnvrtc.so.12 > $@

$(PTX_OF)/check: | $(PTX_OF)/variants.txt $(PTX_OF)/nvrtc.txt $(if $(OFFLOAD_GCC),$(PTX_OF)/openmp)
