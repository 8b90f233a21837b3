# NVRTC is looked for where the toolkit is, if the loader does not know it: lib64 of an installed toolkit, lib of the Python wheels (of CUDA 13; of CUDA 12).
# Its builtins, which it loads by their name, lie beside it, and the wheel of CUDA 13 does not say so: an old-style path holds for libraries, too.
LIBS.04-kernels/17-nvrtc = -ldl -Wl,--disable-new-dtags,-rpath,$(call in_build,toolkit/lib64) \
  -Wl,-rpath,$(call in_build,toolkit/lib):$(call in_build,toolkit/../cuda_nvrtc/lib)
