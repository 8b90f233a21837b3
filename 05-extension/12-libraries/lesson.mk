# If the loader does not find the libraries, look in the folders of the toolkit and of PyTorch's wheels.
NVIDIA_LIBRARIES := toolkit/lib64 toolkit/lib $(if $(TORCH_ROOT),$(patsubst %,torch/../nvidia/%/lib,cu13 cudnn cublas cufft curand))
LIBS.05-extension/12-libraries = -ldl $(foreach folder,$(NVIDIA_LIBRARIES),-Wl,-rpath,$(call in_build,$(folder)))
