# The mma instruction for bfloat16, cp.async: these kernels run on compute capability 8.0 and later.
ATTENTION_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_80
build/04-kernels/31-attention/%.ptx: NVCC_FLAGS := $(ATTENTION_FLAGS)
build/texts/04-kernels/31-attention/%/kernels.ptx: NVCC_FLAGS := $(ATTENTION_FLAGS)
build/tests/04-kernels/31-attention/%/exercise.ptx: NVCC_FLAGS := $(ATTENTION_FLAGS)
