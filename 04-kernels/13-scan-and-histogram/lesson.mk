# CUB, for comparison, if asked for: make build/04-kernels/13-scan-and-histogram/libcub.so, then the lesson again.
LIBS.04-kernels/13-scan-and-histogram = -ldl

build/04-kernels/13-scan-and-histogram/libcub.so: 04-kernels/13-scan-and-histogram/cub/cub.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -shared -Xcompiler -fPIC -std=c++17 -O3 -arch=native $(filter-out -ptx -lineinfo -std=% -arch=%,$(NVCC_FLAGS)) $< -o $@
