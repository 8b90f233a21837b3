# The mma instruction for bfloat16, cp.async: these kernels run on compute capability 8.0 and later.
BACKWARD_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_80
build/04-kernels/32-attention-backward/%.ptx: NVCC_FLAGS := $(BACKWARD_FLAGS)
build/texts/04-kernels/32-attention-backward/%/kernels.ptx: NVCC_FLAGS := $(BACKWARD_FLAGS)
build/tests/04-kernels/32-attention-backward/%/exercise.ptx: NVCC_FLAGS := $(BACKWARD_FLAGS)
