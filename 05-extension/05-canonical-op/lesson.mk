# The package is built as its users build it: setup.py runs g++ and nvcc through PyTorch's BuildExtension. The build happens in a copy, because
# setuptools leaves files where it works.
OP := 05-extension/05-canonical-op
EXTRA.$(OP) = build/$(OP)/installed/built build/$(OP)/cuda.ptx
HOST_CODE += $(OP)

# The CUDA part needs a PyTorch with CUDA, and a toolkit with the same major version (2.13.0+cu130: 13).
CUDA_OF_TORCH := $(patsubst cu%,%,$(lastword $(subst +, ,$(TORCH))))
OP_WITH_CUDA := $(if $(and $(TORCH_CUDA),$(NVCC),$(if $(WITHOUT_HOST_NVCC),,yes)),$(if $(filter $(shell echo $$(($(CUDA_VERSION) / 1000)))%,$(CUDA_OF_TORCH)),1,0),0)
# compute_75 -> 7.5+PTX: machine code for the oldest GPU, and PTX for all newer ones.
OP_ARCH := $(shell echo $(PTX_ARCH) | sed -E 's/compute_([0-9]+)([0-9])/\1.\2+PTX/')

# $1: the folder with setup.py. $2: the variable that leaves CUDA out of it. What torch.compile has cached is removed, too, because its cache does not notice a changed gradient.
build_package = $(Q)rm -rf $(@D) $(@D).source $(@D)/../inductor && mkdir -p $(@D) && cp -r $1 $(@D).source && root=$$PWD && cd $(@D).source && \
  PYTHONPATH= CXX='$(CXX)' MAX_JOBS=2 $2=$(OP_WITH_CUDA) CUDA_HOME="$$root/$(CUDA_ROOT)" TORCH_CUDA_ARCH_LIST=$(OP_ARCH) \
  "$$root/$(PYTHON)" setup.py -q build --build-lib ../installed >../build.log 2>&1 || { cat ../build.log >&2; exit 1; }

build/$(OP)/installed/built: $(OP)/lesson.mk $(wildcard $(OP)/package/*.* $(OP)/package/*/*.*) build/flags.torch
	$(call step_begins,setuptools)
	$(call build_package,$(OP)/package,SQUARE_PLUS_CUDA)
	$(Q)touch $@

# The kernels alone, for the driver API.
torch_ptx = $(NVCC) -ptx $(NVCC_FLAGS) -DUSE_CUDA -DTORCH_TARGET_VERSION=0x020a000000000000 -isystem $(TORCH_ROOT)/include $< -o $@
build/$(OP)/cuda.ptx: $(OP)/package/csrc/cuda.cu build/flags.lessons build/flags.torch
	$(call step,nvcc)
	$(Q)$(torch_ptx)

# ---- Edited copies: what is not edited is taken from the lesson -------------------------------------------------------------------

edited_package = $(wildcard build/texts/$(OP)/$1/package)
# These are explicit rules, made from what is wanted: between two patterns, make would choose the general one.
EDITED_OPS := $(filter build/texts/$(OP)/%/ready,$(WANTED) $(MAKECMDGOALS))
$(EDITED_OPS): build/texts/$(OP)/%/ready: $(EXTRA.$(OP)) \
    $$(if $$(call edited_package,$$*),$$(addprefix build/texts/$(OP)/$$*/,installed/built cuda.ptx)) | build/simulator/libcuda.so
	$(Q)$(if $(call edited_package,$*),,rm -rf $(@D)/installed $(@D)/cuda.ptx;) touch $@

is_same_code = diff -rq $(OP)/package/csrc build/texts/$(OP)/$1/package/csrc >/dev/null
$(EDITED_OPS:ready=installed/built): build/texts/$(OP)/%/installed/built: build/$(OP)/installed/built \
    $$(wildcard build/texts/$(OP)/$$*/package/*.* build/texts/$(OP)/$$*/package/*/*.*)
	$(Q)if $(call is_same_code,$*); then \
	  rm -rf $(@D) $(@D)/../inductor && cp -r build/$(OP)/installed $(@D) && cp build/texts/$(OP)/$*/package/square_plus/*.py $(@D)/square_plus; else \
	  $(MAKE) $(@D)/compiled; fi
	$(Q)touch $@

build/texts/$(OP)/%/installed/compiled:
	$(call build_package,build/texts/$(OP)/$*/package,SQUARE_PLUS_CUDA)

build/texts/$(OP)/%/cuda.ptx: build/texts/$(OP)/%/package/csrc/cuda.cu build/$(OP)/cuda.ptx build/flags.lessons build/flags.torch
	$(Q)if $(call is_same_code,$*); then cp build/$(OP)/cuda.ptx $@; else $(torch_ptx); fi

# ---- Exercises: a library for PyTorch, and the kernels alone ------------------------------------------------------------------------

# Also a stand-in for CUDA, with which the tests run the host code on machines without a GPU.
$(filter build/tests/$(OP)/%/exercise.ptx,$(WANTED) $(MAKECMDGOALS)): build/tests/$(OP)/%/exercise.ptx: $$(call answer,$(OP)/$$*,cu) $(OP)/package/csrc/op.hpp build/flags.lessons build/flags.torch build/tests/$(OP)/standin.so
	@mkdir -p $(@D)
	$(if $(filter 1,$(OP_WITH_CUDA)),$(answer_library),$(Q)$(torch_ptx))

# The library contains the PTX, which nvcc keeps as a file, too.
answer_library = $(Q)mkdir -p $(@D)/kept && $(NVCC) -shared --keep --keep-dir $(@D)/kept $(filter-out -MMD -MP,$(NVCC_FLAGS)) -Xcompiler -fPIC \
	  -DUSE_CUDA -DTORCH_TARGET_VERSION=0x020a000000000000 -isystem $(TORCH_ROOT)/include $< -cudart none \
	  -L$(TORCH_ROOT)/lib -L$(CUDA_ROOT)/lib64 -ltorch_cpu -ltorch_cuda -lcudart -o $(@D)/answer.so && \
	  mv $(@D)/kept/$(basename $(<F)).ptx $@ && rm -r $(@D)/kept

build/tests/$(OP)/standin.so: tests/$(OP)/standin.cpp build/flags.tests
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O1 $(WARNINGS) -shared -fPIC $< -o $@
