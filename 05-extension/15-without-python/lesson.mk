# The package is made once, with Python. The server and the exercises' judge, which are C++, load it.
SERVER := 05-extension/15-without-python
EXTRA.$(SERVER) = $(addprefix build/$(SERVER)/,facts.json serve judge.o) build/05-extension/05-canonical-op/ready
SERVER_CUDA := $(if $(wildcard $(TORCH_ROOT)/lib/libtorch_cuda.so),yes)

# TORCHINDUCTOR_VEC_ISA_OK: without it, ten compilations find out first which vector instructions this processor has.
build/$(SERVER)/facts.json: $(SERVER)/export.py build/05-extension/05-canonical-op/installed/built build/flags.torch
	$(call step_begins,export)
	$(Q)rm -rf $(@D)/inductor; PYTHONPATH=build/05-extension/05-canonical-op/installed TORCHINDUCTOR_VEC_ISA_OK=0 CXX='$(CXX)' \
	  TORCHINDUCTOR_CACHE_DIR=$$PWD/$(@D)/inductor "$(PYTHON)" $< $(@D) >$(@D)/export.log 2>&1 || { cat $(@D)/export.log >&2; exit 1; }

# libtorch is linked although no name of it is needed: packages need it, and this library knows where it is.
build/$(SERVER)/libmodel.so: $(SERVER)/model.cpp $(SERVER)/model.hpp build/flags.torch $(PARSED_TORCH)
	$(call step_begins,compile)
	$(Q)$(CXX) $(TORCH_FLAGS) $(PARSED_TORCH:%.gch=-include %) $(if $(SERVER_CUDA),-DWITH_CUDA) $(SHORT_NAMES) $(CXXFLAGS) -MF $(@:.so=.d) $< \
	  $(LDFLAGS) $(TORCH_LINK) $(if $(SERVER_CUDA),-ltorch_cuda -lc10_cuda) -Wl,-rpath,'$$ORIGIN/../../torch/lib' -o $@

# $1: the flags
server = $(Q)$(CXX) $1 $(SHORT_NAMES) $(CXXFLAGS) $< -Lbuild/$(SERVER) -lmodel -ldl -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../../../$(SERVER)' \
  -Wl,--allow-shlib-undefined -o $@
build/$(SERVER)/serve: $(SERVER)/serve.cpp build/$(SERVER)/libmodel.so build/flags.lessons
	$(call step,compile)
	$(call server,$(LESSON_FLAGS))

# An edited copy may have a server of its own.
EDITED_SERVERS := $(filter build/texts/$(SERVER)/%/ready,$(WANTED) $(MAKECMDGOALS))
$(EDITED_SERVERS): build/texts/$(SERVER)/%/ready: $(EXTRA.$(SERVER)) \
    $$(basename $$(wildcard build/texts/$(SERVER)/$$*/serve.cpp)) | build/simulator/libcuda.so
	$(Q)touch $@
build/texts/$(SERVER)/%/serve: build/texts/$(SERVER)/%/serve.cpp build/$(SERVER)/libmodel.so build/flags.lessons
	$(call server,$(QUICK_FLAGS))

build/$(SERVER)/judge.o: tests/$(SERVER)/judge.cpp $(SERVER)/model.hpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) -fPIC $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@

# An exercise doesn't include PyTorch's headers either.
$(filter build/tests/$(SERVER)/%/answer.so,$(WANTED) $(MAKECMDGOALS)): build/tests/$(SERVER)/%/answer.so: $$(call answer,$(SERVER)/$$*,cpp) \
    build/$(SERVER)/judge.o build/$(SERVER)/libmodel.so build/flags.lessons
	@mkdir -p $(@D)
	$(Q)$(CXX) $(if $(filter tests/%,$<),$(QUICK_FLAGS),$(LESSON_FLAGS)) -fPIC -shared $(SHORT_NAMES) $(CXXFLAGS) $< build/$(SERVER)/judge.o \
	  -Lbuild/$(SERVER) -lmodel -Wl,-rpath,'$$ORIGIN/../../../../$(SERVER)',--allow-shlib-undefined -o $@
