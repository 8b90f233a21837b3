# The libraries are looked for where the toolkit and PyTorch's wheels have them, if the loader does not know them.
WHEELS := $(TORCH_ROOT)/../nvidia
LIBS.05-extension/08-libraries = -ldl -Wl,-rpath,'$(CUDA_ROOT)/lib64:$(CUDA_ROOT)/lib$(if $(TORCH_ROOT),:$(WHEELS)/cu13/lib:$(WHEELS)/cudnn/lib:$(WHEELS)/cublas/lib:$(WHEELS)/cufft/lib:$(WHEELS)/curand/lib)'
