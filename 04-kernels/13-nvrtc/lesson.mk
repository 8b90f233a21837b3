# If the loader does not find NVRTC, look in the toolkit's folder: lib64 of an installed toolkit, or lib of the Python wheels (CUDA 13; CUDA 12).
# NVRTC loads its builtins library by name from the same folder. The CUDA 13 wheel sets no path for this, so an RPATH (not RUNPATH) is used,
# which also applies to the libraries that NVRTC loads.
LIBS.04-kernels/13-nvrtc = -ldl -Wl,--disable-new-dtags,-rpath,$(call in_build,toolkit/lib64) \
  -Wl,-rpath,$(call in_build,toolkit/lib):$(call in_build,toolkit/../cuda_nvrtc/lib)
