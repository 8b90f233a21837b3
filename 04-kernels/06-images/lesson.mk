# The same kernels as machine code for three architectures, and, where the toolkit has the tool for it, as a fat binary: one file with
# machine code for one of them, and PTX.
IMAGES := build/04-kernels/06-images
IMAGE_NAMES := kernels.sm_75.cubin kernels.sm_80.cubin kernels.sm_90.cubin \
  $(if $(NVCC),$(shell [ -x "$$(dirname $(NVCC))/fatbinary" ] && echo kernels.fatbin))
# Beside the program, and beside each edited copy of it; the checks look for them here.
EXTRA.04-kernels/06-images = $(addprefix build/$(or $(filter texts/%,$*),04-kernels/06-images)/,$(IMAGE_NAMES))
# Without -lineinfo, which keeps a copy of the PTX in the machine code: a search for the PTX in the file should find one copy.
IMAGE_FLAGS := $(filter-out -lineinfo -arch=% -MMD -MP,$(NVCC_FLAGS))

$(IMAGES)/kernels.sm_%.cubin: 04-kernels/06-images/kernels.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -cubin -arch=sm_$* $(IMAGE_FLAGS) $< -o $@

# --no-compress: the simulator reads the PTX in it, if it is text.
$(IMAGES)/kernels.fatbin: 04-kernels/06-images/kernels.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -fatbin -gencode 'arch=compute_75,code=[sm_75,compute_75]' --no-compress $(IMAGE_FLAGS) $< -o $@

build/texts/04-kernels/06-images/%.cubin: $(IMAGES)/$$(notdir $$*).cubin
	$(Q)mkdir -p $(@D) && cp $< $@
build/texts/04-kernels/06-images/%.fatbin: $(IMAGES)/$$(notdir $$*).fatbin
	$(Q)mkdir -p $(@D) && cp $< $@
