# libsquare.so: the kernels behind the C interface of op.h, by nvcc, with a launcher in the runtime API and one in the driver API. No header of PyTorch's
# comes near nvcc. op.so (op.cpp, by the rule of all lessons) and mistakes.so are PyTorch's side of it.
TORCH_CUDA := build/05-extension/04-canonical-op
EXTRA.05-extension/04-canonical-op = $(TORCH_CUDA)/libsquare.so $(TORCH_CUDA)/mistakes.so
LIBS.05-extension/04-canonical-op = -lc10_cuda -L$(TORCH_CUDA) -lsquare -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../../../05-extension/04-canonical-op'
HOST_CODE += 05-extension/04-canonical-op

# The runtime that PyTorch has loaded, by its name; a copy of our own (-cudart static) would have errors of its own, which PyTorch does not see.
RUNTIME = -L$(CUDA_ROOT)/lib64 -L$(CUDA_ROOT)/lib -l:libcudart.so.$(shell echo $$(($(CUDA_VERSION) / 1000)))

$(TORCH_CUDA)/kernels.o: 05-extension/04-canonical-op/kernels.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) $(filter-out -ptx,$(NVCC_FLAGS)) -O2 -c -Xcompiler -fPIC $(nvcc_depends) $< -o $@

$(TORCH_CUDA)/host.o: 05-extension/04-canonical-op/host.cpp build/flags.lessons $(PARSED)
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) -fPIC $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@

$(TORCH_CUDA)/libsquare.so: $(TORCH_CUDA)/kernels.o $(TORCH_CUDA)/host.o | build/simulator/libcuda.so
	$(Q)$(CXX) -shared -pthread $^ $(DRIVER) $(RUNTIME) -o $@

$(TORCH_CUDA)/op.so: | $(TORCH_CUDA)/libsquare.so

$(TORCH_CUDA)/mistakes.so: 05-extension/04-canonical-op/mistakes.cpp build/flags.torch $(PARSED_TORCH) | $(TORCH_CUDA)/libsquare.so
	$(call step,compile)
	$(compile_torch)
