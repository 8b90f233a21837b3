# setuptools builds the Python module in build/…/module. Without Python.h it is not built, and the program skips its part.
BUILDING := 05-extension/04-building
EXTRA.$(BUILDING) = build/$(BUILDING)/module/built

build/$(BUILDING)/module/built: $(addprefix $(BUILDING)/,square_plus.cpp setup.py) build/flags.torch
	$(call step_begins,setuptools)
	$(if $(PYTHON_HEADERS),$(Q)root=$$PWD && cd $(@D) && PYTHONPATH= CXX='$(CXX)' "$$root/$(PYTHON)" "$$root/$(BUILDING)/setup.py" \
	  -q build_ext --build-lib . --build-temp objects >log 2>&1 || { cat log >&2; exit 1; })
	$(Q)touch $@
