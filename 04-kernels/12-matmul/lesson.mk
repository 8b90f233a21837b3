# cuBLAS is looked for where the toolkit is, if the loader does not know it.
LIBS.04-kernels/12-matmul = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
