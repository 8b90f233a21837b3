# NVRTC is looked for where the toolkit is, if the loader does not know it: lib64 of an installed toolkit, lib of the Python wheels (of CUDA 13; of CUDA 12).
LIBS.04-kernels/16-nvrtc = -ldl -Wl,-rpath,$(call quoted,$(CUDA_ROOT)/lib64:$(CUDA_ROOT)/lib:$(CUDA_ROOT)/../cuda_nvrtc/lib)
