# Two wheels of the package, as `pip wheel` makes them; the op by the stable interface; and libraries with faults, for the traps.
PACKAGING := 05-extension/10-packaging
WHEELS := build/$(PACKAGING)/wheels
# PyTorch's stable interface is that of 2.11 and later.
STABLE := $(if $(filter 2.6% 2.7% 2.8% 2.9% 2.10%,$(TORCH)),,stable.so)
EXTRA.$(PACKAGING) = $(WHEELS)/now $(WHEELS)/later $(addprefix build/$(PACKAGING)/,$(STABLE) other_string.so old_cuda.so)

# Without what builds a wheel (pip, and a setuptools that makes some), the program says so. setuptools leaves files where it builds, so it works in a
# copy. The program installs the wheels into environments, and keeps those.
pip_wheel = $(Q)rm -rf $@.source $@.wheel build/$(PACKAGING)/environments build/texts/$(PACKAGING)/*/environments; \
  $(if $(BUILDERS),,exit 0;) root=$$PWD && cp -r $(PACKAGING)/package $@.source && cd $@.source && \
  PYTHONPATH= CXX='$(CXX)' SQUARE_PLUS=$(@F) CUDA_HOME=$(if $(NVCC),"$$root/$(CUDA_ROOT)") "$$root/$(PYTHON)" -m pip wheel \
  --no-build-isolation --no-deps --no-index --disable-pip-version-check -q -w ../$(@F).wheel . >../$(@F).log 2>&1 || { cat ../$(@F).log >&2; exit 1; }
$(WHEELS)/now $(WHEELS)/later: $(PACKAGING)/lesson.mk $(wildcard $(PACKAGING)/package/*.* $(PACKAGING)/package/square_plus/*.*) build/flags.torch
	$(call step_begins,wheel)
	$(pip_wheel)
	$(Q)[ ! -e $@.wheel ] || touch $@  # what could not be made is tried again

# 0x020b…: for PyTorch 2.11 and later, whatever is here.
build/$(PACKAGING)/stable.so: $(PACKAGING)/stable.cpp build/flags.torch
	$(call step,compile)
	$(Q)$(CXX) $(TORCH_FLAGS) -DTORCH_TARGET_VERSION=0x020b000000000000 $< $(LDFLAGS) -shared -L$(TORCH_ROOT)/lib -ltorch_cpu -o $@

# The other std::string than PyTorch's: that of before C++11, with which its wheels for pip were built until 2.6.
build/$(PACKAGING)/other_string.so: $(PACKAGING)/other_string.cpp build/flags.torch
	@mkdir -p $(@D)
	$(Q)$(CXX) $(filter-out -D_GLIBCXX_USE_CXX11_ABI=%,$(TORCH_FLAGS)) -D_GLIBCXX_USE_CXX11_ABI=$(if $(filter yes,$(TORCH_OLD_STRING)),1,0) $< $(LDFLAGS) -shared -L$(TORCH_ROOT)/lib -lc10 -o $@

# A library that wants the runtime of CUDA 11, of which only a stub is here, and only while it is linked.
build/$(PACKAGING)/old_cuda.so: $(PACKAGING)/other_string.cpp build/flags.torch
	$(Q)mkdir -p $(@D)/stub && echo 'extern "C" int cudaMalloc() { return 0; }' | \
	  $(CXX) -shared -fPIC -x c++ - -Wl,-soname,libcudart.so.11.0 -o $(@D)/stub/libcudart.so
	$(Q)echo 'extern "C" int cudaMalloc(); int f() { return cudaMalloc(); }' | $(CXX) -shared -fPIC -x c++ - -L$(@D)/stub -lcudart -o $@
	$(Q)rm -r $(@D)/stub
