# CUB, for comparison, on request: make build/04-kernels/20-reduction/libcub.so, then run the lesson again. It is compiled for the GPU of this machine.
LIBS.04-kernels/20-reduction = -ldl

build/04-kernels/20-reduction/libcub.so: 04-kernels/20-reduction/cub/cub.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -shared -Xcompiler -fPIC -std=c++17 -O3 -arch=native $(filter-out -ptx -lineinfo -std=% -arch=%,$(NVCC_FLAGS)) $< -o $@
