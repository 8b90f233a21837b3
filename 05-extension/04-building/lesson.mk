# setuptools builds the Python module in build/…/module. Without Python.h it is not built, and the program skips its part.
CPP_LESSON := 05-extension/03-dispatcher
EXTRA.$(CPP_LESSON) = build/$(CPP_LESSON)/module/built

build/$(CPP_LESSON)/module/built: $(addprefix $(CPP_LESSON)/,bound.cpp op.hpp setup.py) build/flags.torch
	$(call step_begins,setuptools)
	$(if $(PYTHON_HEADERS),$(Q)root=$$PWD && cd $(@D) && PYTHONPATH= CXX='$(CXX)' "$$root/$(PYTHON)" "$$root/$(CPP_LESSON)/setup.py" \
	  -q build_ext --build-lib . --build-temp objects >log 2>&1 || { cat log >&2; exit 1; })
	$(Q)touch $@
