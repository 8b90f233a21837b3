# twin.cu is compiled, so that the text shows a program that compiles; to run it takes NVIDIA's runtime library and a GPU.
EXTRA.01-driver-init/02-whole-arc = build/01-driver-init/02-whole-arc/twin.ptx

build/01-driver-init/02-whole-arc/twin.ptx: 01-driver-init/02-whole-arc/twin.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@
