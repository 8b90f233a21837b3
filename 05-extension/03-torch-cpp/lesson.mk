# The module of Python in build/…/module, built by setuptools; the Makefile builds op.so of op.cpp.
CPP_LESSON := 05-extension/03-torch-cpp
EXTRA.$(CPP_LESSON) = build/$(CPP_LESSON)/module/built

# Python.h where the set-up has put it; without it, the program says so.
PYTHON_ELSEWHERE = $(if $(filter /usr/%,$(PYTHON_HEADERS)),,CPLUS_INCLUDE_PATH=$(call quoted,$(PYTHON_HEADERS):$(dir $(PYTHON_HEADERS))))

build/$(CPP_LESSON)/module/built: $(addprefix $(CPP_LESSON)/,bound.cpp op.hpp setup.py) build/flags.torch
	$(call say_first,setuptools,$< (with all of PyTorch: it takes a while))
	$(Q)mkdir -p $(@D) && cd $(@D) && $(if $(filter none,$(PYTHON_HEADERS)),touch built; exit 0;) \
	  PYTHONPATH=$(call quoted,$(TORCH_PATH)) CXX=$(call quoted,$(CXX)) $(PYTHON_ELSEWHERE) \
	  python3 $(call quoted,$(CURDIR)/$(CPP_LESSON)/setup.py) -q build_ext --build-lib . --build-temp objects >log 2>&1 || { cat log >&2; exit 1; }
	$(Q)touch $@
