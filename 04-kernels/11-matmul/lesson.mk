# cuBLAS is looked for where the toolkit is, if the loader does not know it.
LIBS.04-kernels/11-matmul = -ldl -Wl,-rpath,$(call quoted,$(CUDA_ROOT)/lib64:$(CUDA_ROOT)/lib)
