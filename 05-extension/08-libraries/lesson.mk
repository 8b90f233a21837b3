# The libraries are looked for where the toolkit and PyTorch's wheels have them, if the loader does not know them.
NVIDIA_WHEELS := $(TORCH_ROOT)/../nvidia
LIBS.05-extension/08-libraries = -ldl -Wl,-rpath,$(call quoted,$(CUDA_ROOT)/lib64:$(CUDA_ROOT)/lib$(if $(TORCH_ROOT),:$(NVIDIA_WHEELS)/cu13/lib:$(NVIDIA_WHEELS)/cudnn/lib:$(NVIDIA_WHEELS)/cublas/lib:$(NVIDIA_WHEELS)/cufft/lib:$(NVIDIA_WHEELS)/curand/lib))
