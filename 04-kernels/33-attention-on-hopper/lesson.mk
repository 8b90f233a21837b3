# wgmma and setmaxnreg need an architecture-specific target: these kernels run on compute capability 9.0 only.
build/04-kernels/33-attention-on-hopper/kernels.ptx build/texts/04-kernels/33-attention-on-hopper/%/kernels.ptx \
    build/tests/04-kernels/33-attention-on-hopper/%/exercise.ptx: NVCC_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90a
