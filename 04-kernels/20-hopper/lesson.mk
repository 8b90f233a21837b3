# wgmma is in no architecture's common part: these kernels are for 9.0 and nothing else. Copies of boxes, as in the check, are for 9.0 and what follows.
FOR_HOPPER := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90a
build/04-kernels/20-hopper/kernels.ptx: NVCC_FLAGS := $(FOR_HOPPER)
build/texts/04-kernels/20-hopper/%/kernels.ptx: NVCC_FLAGS := $(FOR_HOPPER)
build/tests/04-kernels/20-hopper.ptx: NVCC_FLAGS := $(subst 90a,90,$(FOR_HOPPER))
# cuBLAS is looked for where the toolkit is, if the loader does not know it.
LIBS.04-kernels/20-hopper = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
