# A kernel with the assertion macro of PyTorch's own kernels. It includes PyTorch's CUDA headers in C++, so it is only built for a PyTorch with CUDA.
DEBUGGING := 05-extension/06-debugging
EXTRA.$(DEBUGGING) = $(if $(filter 1,$(OP_WITH_CUDA)),build/$(DEBUGGING)/dsa.so)

build/$(DEBUGGING)/dsa.so: $(DEBUGGING)/dsa.cu build/flags.lessons build/flags.torch
	$(call step,nvcc)
	$(Q)$(NVCC) -shared $(filter-out -MMD -MP,$(NVCC_FLAGS)) -O2 -Xcompiler -fPIC -DUSE_CUDA -DTORCH_USE_CUDA_DSA -isystem $(TORCH_ROOT)/include \
	  $< -cudart none -L$(TORCH_ROOT)/lib -L$(CUDA_ROOT)/lib64 -lc10_cuda -lc10 -lcudart -o $@
