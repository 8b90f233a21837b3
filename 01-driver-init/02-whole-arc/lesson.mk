# twin.cu is only compiled, to make sure that the program in the text compiles. Running it requires NVIDIA's runtime library and a GPU.
EXTRA.01-driver-init/02-whole-arc = build/01-driver-init/02-whole-arc/twin.ptx

build/01-driver-init/02-whole-arc/twin.ptx: 01-driver-init/02-whole-arc/twin.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@
