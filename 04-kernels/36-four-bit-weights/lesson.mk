# The mma instruction for bfloat16, cp.async: these kernels run on compute capability 8.0 and later.
FOUR_BIT_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_80
build/04-kernels/36-four-bit-weights/%.ptx: NVCC_FLAGS := $(FOUR_BIT_FLAGS)
build/texts/04-kernels/36-four-bit-weights/%/kernels.ptx: NVCC_FLAGS := $(FOUR_BIT_FLAGS)
build/tests/04-kernels/36-four-bit-weights/%/exercise.ptx: NVCC_FLAGS := $(FOUR_BIT_FLAGS)
# The kernel that overlaps with the one before needs compute capability 9.0, so it is compiled to a separate image.
FOUR_BIT := build/04-kernels/36-four-bit-weights
EXTRA.04-kernels/36-four-bit-weights = build/$(or $(filter texts/%,$*),04-kernels/36-four-bit-weights)/overlapped.ptx

$(FOUR_BIT)/overlapped.ptx: 04-kernels/36-four-bit-weights/overlapped.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90 $< -o $@

build/texts/04-kernels/36-four-bit-weights/%/overlapped.ptx: $(FOUR_BIT)/overlapped.ptx
	$(Q)mkdir -p $(@D) && cp $< $@
# If the loader does not find cublasLt, look in the toolkit's folder.
LIBS.04-kernels/36-four-bit-weights = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
