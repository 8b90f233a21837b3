# Three images, compiled separately: with -rdc=true, a function may be defined in another image.
LINKING := build/04-kernels/14-linking
$(LINKING)/% build/texts/04-kernels/14-linking/% build/tests/04-kernels/14-linking%: NVCC_FLAGS += -rdc=true
# Place these images next to the program and next to each edited copy of it.
EXTRA.04-kernels/14-linking = $(addprefix build/$(or $(filter texts/%,$*),04-kernels/14-linking)/,square.ptx root.ptx)

$(LINKING)/square.ptx: 04-kernels/14-linking/square.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@
$(LINKING)/root.ptx: 04-kernels/14-linking/root.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@

build/texts/04-kernels/14-linking/%/square.ptx: $(LINKING)/square.ptx
	$(Q)mkdir -p $(@D) && cp $< $@
build/texts/04-kernels/14-linking/%/root.ptx: $(LINKING)/root.ptx
	$(Q)mkdir -p $(@D) && cp $< $@
