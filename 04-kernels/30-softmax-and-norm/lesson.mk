# Clusters: these kernels run on compute capability 9.0 and later.
ROWS_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90
build/04-kernels/30-softmax-and-norm/%.ptx: NVCC_FLAGS := $(ROWS_FLAGS)
build/texts/04-kernels/30-softmax-and-norm/%/kernels.ptx: NVCC_FLAGS := $(ROWS_FLAGS)
build/tests/04-kernels/30-softmax-and-norm/%/exercise.ptx: NVCC_FLAGS := $(ROWS_FLAGS)
