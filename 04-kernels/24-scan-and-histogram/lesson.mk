# The scan's last rung uses TMA copies, which need compute capability 9.0. It is compiled to an image of its own, for that architecture.
SCAN := 04-kernels/24-scan-and-histogram
EXTRA.$(SCAN) = build/$(or $(filter texts/%,$*),04-kernels/24-scan-and-histogram)/pipeline.ptx

build/$(SCAN)/pipeline.ptx build/texts/$(SCAN)/%/pipeline.ptx: NVCC_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90

# CUB, for comparison, on request: make build/04-kernels/24-scan-and-histogram/libcub.so, then run the lesson again. It is compiled for the GPU of this machine.
LIBS.$(SCAN) = -ldl

build/$(SCAN)/libcub.so: $(SCAN)/cub/cub.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -shared -Xcompiler -fPIC -std=c++17 -O3 -arch=native $(filter-out -ptx -lineinfo -std=% -arch=%,$(NVCC_FLAGS)) $< -o $@
