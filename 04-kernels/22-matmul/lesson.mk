# If the loader does not find cuBLAS, look in the toolkit's folder.
LIBS.04-kernels/22-matmul = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
