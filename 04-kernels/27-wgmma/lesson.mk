# wgmma needs an architecture-specific target: these kernels run on compute capability 9.0 only.
build/04-kernels/27-wgmma/kernels.ptx build/texts/04-kernels/27-wgmma/%/kernels.ptx build/tests/04-kernels/27-wgmma/%/exercise.ptx: \
    NVCC_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90a
