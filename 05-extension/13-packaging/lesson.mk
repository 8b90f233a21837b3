# Two wheels and a source distribution of the package of lesson 05-05, and two libraries with faults, for the table of
# error messages.
PACKAGING := 05-extension/13-packaging
WHEELS := build/$(PACKAGING)/wheels
EXTRA.$(PACKAGING) = $(addprefix $(WHEELS)/,cpu source $(if $(filter 1,$(OP_WITH_CUDA)),cuda)) $(addprefix build/$(PACKAGING)/,cpp_names.so other_cuda.so) \
  build/05-extension/05-canonical-op/installed/built

# setuptools leaves files where it builds, so it works in a copy. Without pip and a setuptools that builds wheels, the
# program is skipped. The program installs the wheels into environments, and keeps those until a wheel is new.
# What setuptools says is not in TARGET.log, because common/make/logged writes that file.
in_a_copy = $(Q)rm -rf $@.source $@.made build/$(PACKAGING)/environments build/texts/$(PACKAGING)/*/environments; \
  $(if $(BUILDERS),,exit 0;) root=$$PWD && cp -r 05-extension/05-canonical-op/package $@.source && cd $@.source && \
  PYTHONPATH= CXX='$(CXX)' MAX_JOBS=2 CUDA_HOME="$$root/$(CUDA_ROOT)" $1 >../$(@F).said 2>&1 || { cat ../$(@F).said >&2; exit 1; }
pip_wheel = "$$root/$(PYTHON)" -m pip wheel --no-build-isolation --no-deps --no-index --disable-pip-version-check -q -w ../$(@F).made .
FROM_PACKAGE := $(PACKAGING)/lesson.mk $(wildcard 05-extension/05-canonical-op/package/*.* 05-extension/05-canonical-op/package/*/*.*)
# If a build failed, the next make tries again.
made = $(Q)[ ! -e $@.made ] || touch $@

$(WHEELS)/cpu: $(FROM_PACKAGE) build/flags.torch
	$(call step_begins,wheel)
	$(call in_a_copy,SQUARE_PLUS_CUDA=0 SQUARE_PLUS_LABEL=+cpu $(pip_wheel))
	$(made)

# Machine code for three generations of GPUs, 7.5, 8.x and 9.0, and PTX for everything after the third.
$(WHEELS)/cuda: $(FROM_PACKAGE) build/flags.torch
	$(call step_begins,wheel)
	$(call in_a_copy,SQUARE_PLUS_LABEL=+cu$(CUDA_OF_TORCH) TORCH_CUDA_ARCH_LIST='7.5;8.0;9.0+PTX' $(pip_wheel))
	$(made)

# As if there were no nvcc: the source distribution must contain the same files everywhere.
$(WHEELS)/source: $(FROM_PACKAGE) build/flags.torch
	$(call step_begins,sdist)
	$(call in_a_copy,SQUARE_PLUS_CUDA=0 "$$root/$(PYTHON)" setup.py -q sdist --dist-dir ../$(@F).made)
	$(made)

# A library that calls C++ functions of PyTorch, compiled with the other std::string: that of before C++11, with which PyTorch's wheels were
# built until 2.6 (or the new one, if this PyTorch has the old one).
build/$(PACKAGING)/cpp_names.so: $(PACKAGING)/cpp_names.cpp build/flags.torch
	@mkdir -p $(@D)
	$(Q)$(CXX) $(filter-out -D_GLIBCXX_USE_CXX11_ABI=%,$(TORCH_FLAGS)) -D_GLIBCXX_USE_CXX11_ABI=$(if $(filter yes,$(TORCH_OLD_STRING)),1,0) $< $(LDFLAGS) -shared -L$(TORCH_ROOT)/lib -lc10 -o $@

# A library that needs the runtime of CUDA 12, or of CUDA 13 if PyTorch is built for 12. Only a stub of it exists here, and only while it is linked.
OTHER_RUNTIME := libcudart.so.$(if $(filter 12%,$(CUDA_OF_TORCH)),13,12)
build/$(PACKAGING)/other_cuda.so: $(PACKAGING)/cpp_names.cpp build/flags.torch
	$(Q)mkdir -p $(@D)/stub && echo 'extern "C" int cudaMalloc() { return 0; }' | \
	  $(CXX) -shared -fPIC -x c++ - -Wl,-soname,$(OTHER_RUNTIME) -o $(@D)/stub/libcudart.so
	$(Q)echo 'extern "C" int cudaMalloc(); int f() { return cudaMalloc(); }' | $(CXX) -shared -fPIC -x c++ - -L$(@D)/stub -lcudart -o $@
	$(Q)rm -r $(@D)/stub
