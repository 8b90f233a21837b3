# If the loader does not find cuBLAS, look in the toolkit's folder.
LIBS.04-kernels/23-matmul-warps = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)

# The same kernels for compute capability 8.0 and later, where asynchronous copies are instructions.
EXTRA.04-kernels/23-matmul-warps = build/04-kernels/23-matmul-warps/kernels_80.ptx
build/04-kernels/23-matmul-warps/kernels_80.ptx: 04-kernels/23-matmul-warps/kernels.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_80 $< -o $@
