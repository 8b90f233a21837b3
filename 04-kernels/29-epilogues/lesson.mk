# The mma instruction for bfloat16, cp.async: these kernels run on compute capability 8.0 and later.
EPILOGUE_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_80
build/04-kernels/29-epilogues/%.ptx: NVCC_FLAGS := $(EPILOGUE_FLAGS)
build/texts/04-kernels/29-epilogues/%/kernels.ptx: NVCC_FLAGS := $(EPILOGUE_FLAGS)
build/tests/04-kernels/29-epilogues/%/exercise.ptx: NVCC_FLAGS := $(EPILOGUE_FLAGS)
# If the loader does not find cublasLt, look in the toolkit's folder.
LIBS.04-kernels/29-epilogues = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
