# The mma instruction for bfloat16, cp.async: these kernels run on compute capability 8.0 and later.
DECODE_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_80
build/04-kernels/34-decode-attention/%.ptx: NVCC_FLAGS := $(DECODE_FLAGS)
build/texts/04-kernels/34-decode-attention/%/kernels.ptx: NVCC_FLAGS := $(DECODE_FLAGS)
build/tests/04-kernels/34-decode-attention/%/exercise.ptx: NVCC_FLAGS := $(DECODE_FLAGS)
