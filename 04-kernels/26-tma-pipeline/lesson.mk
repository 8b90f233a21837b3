# The TMA needs compute capability 9.0 or later.
build/04-kernels/26-tma-pipeline/kernels.ptx build/texts/04-kernels/26-tma-pipeline/%/kernels.ptx build/tests/04-kernels/26-tma-pipeline/%/exercise.ptx: \
    NVCC_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90
