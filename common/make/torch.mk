# Chapter 05: lessons in Python, and libraries that PyTorch loads.
#
# A lesson in Python needs only what its lesson.mk builds, its kernels, its op in C++ (op.cpp becomes op.so), and the simulator; so does an
# edited copy of it. An op or an exercise in C++ becomes a library for torch.ops.load_library; an exercise in CUDA becomes PTX, as elsewhere.
# The C++ includes <ATen/ATen.h> and <torch/library.h>, which are parsed once, and not <torch/extension.h>, which needs Python's headers
# and takes a minute.

# -g is left out: PyTorch's headers parsed with it are half a gigabyte.
TORCH_FLAGS := $(filter-out -g,$(LESSON_FLAGS)) -fPIC -isystem $(TORCH_ROOT)/include -isystem $(TORCH_ROOT)/include/torch/csrc/api/include
# Wheels of PyTorch 2.6 and before have the std::string of before C++11 (see 05-13), and so must everything that calls them.
TORCH_FLAGS += $(if $(filter yes,$(TORCH_OLD_STRING)),-D_GLIBCXX_USE_CXX11_ABI=0)
# g++ 13 and later report uninitialized variables in PyTorch's own headers, once these are parsed.
TORCH_FLAGS += $(if $(CLANG),,-Wno-maybe-uninitialized)
TORCH_LINK := -shared -pthread -L$(TORCH_ROOT)/lib -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10 -Wl,--as-needed

# Edited copies and wrong solutions compile in two thirds of the time.
QUICK_TORCH = $(filter-out -O2,$(TORCH_FLAGS)) -O1 $(QUICK_LINK)
# $1: the flags
compile_torch = $(Q)$(CXX) $1 $(PARSED_TORCH:%.gch=-include %) $(SHORT_NAMES) $(CXXFLAGS) -MF $(@:.so=.d) $< \
  $(LDFLAGS) $(TORCH_LINK) $(DRIVER) $(LIBS) -o $@

.SECONDEXPANSION:

# $*: a lesson, or texts/<lesson>/<n> for an edited copy
beside = $(if $(wildcard $1/$2 build/$1/$2),build/$1/$3)
build/%/ready: $$(call beside,$$*,kernels.cu,kernels.ptx) $$(call beside,$$*,op.cpp,op.so) \
    $$(EXTRA.$$(if $$(filter texts/%,$$*),$$(call edited_lesson,$$*))) | build/simulator/libcuda.so
	@mkdir -p $(@D) && touch $@

build/%/op.so: %/op.cpp build/flags.torch $(PARSED_TORCH) | build/simulator/libcuda.so
	$(call step_begins,compile)
	$(call compile_torch,$(TORCH_FLAGS))

# It links what the lesson builds besides.
build/texts/%/op.so: build/texts/%/op.cpp build/flags.torch $(PARSED_TORCH) \
    | build/simulator/libcuda.so $$(EXTRA.$$(call edited_lesson,texts/$$*))
	$(call compile_torch,$(QUICK_TORCH))

build/tests/%/answer.so: $$(call answer,$$*,cpp) build/flags.torch $(PARSED_TORCH) build/$$(call lesson_in,$$*)/ready
	$(call step_begins,compile)
	$(call compile_torch,$(if $(call is_wrong,$*,cpp),$(QUICK_TORCH),$(TORCH_FLAGS)))
