# The Python module in build/…/module, which setuptools builds. Without Python.h it is left out, and the program says so.
CPP_LESSON := 05-extension/03-torch-cpp
EXTRA.$(CPP_LESSON) = build/$(CPP_LESSON)/module/built

build/$(CPP_LESSON)/module/built: $(addprefix $(CPP_LESSON)/,bound.cpp op.hpp setup.py) build/flags.torch
	$(call step_begins,setuptools)
	$(if $(PYTHON_HEADERS),$(Q)root=$$PWD && cd $(@D) && PYTHONPATH= CXX='$(CXX)' "$$root/$(PYTHON)" "$$root/$(CPP_LESSON)/setup.py" \
	  -q build_ext --build-lib . --build-temp objects >log 2>&1 || { cat log >&2; exit 1; })
	$(Q)touch $@
