# CUB, for comparison, if asked for: make build/04-kernels/09-reduction/libcub.so, then the lesson again. Compiled for the GPU that is here.
LIBS.04-kernels/09-reduction = -ldl

build/04-kernels/09-reduction/libcub.so: 04-kernels/09-reduction/cub/cub.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -shared -Xcompiler -fPIC -std=c++17 -O3 -arch=native $(filter-out -ptx -lineinfo -std=% -arch=%,$(NVCC_FLAGS)) $< -o $@
