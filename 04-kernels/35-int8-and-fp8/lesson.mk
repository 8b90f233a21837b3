# wgmma needs an architecture-specific target. What every card since Ampere can run is compiled to an image of its own, int8.ptx, and the
# rows of 04-30, which need clusters, to norm.ptx. mma with e4m3, in the exercise, needs compute capability 8.9.
INT8 := build/04-kernels/35-int8-and-fp8
INT8_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS))
$(INT8)/kernels.ptx build/texts/04-kernels/35-int8-and-fp8/%/kernels.ptx: NVCC_FLAGS := $(INT8_FLAGS) -arch=compute_90a
build/tests/04-kernels/35-int8-and-fp8/%/exercise.ptx: NVCC_FLAGS := $(INT8_FLAGS) -arch=compute_89
INT8_HERE = build/$(or $(filter texts/%,$*),04-kernels/35-int8-and-fp8)
EXTRA.04-kernels/35-int8-and-fp8 = $(INT8_HERE)/int8.ptx $(INT8_HERE)/norm.ptx

$(INT8)/int8.ptx: 04-kernels/35-int8-and-fp8/int8.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(INT8_FLAGS) -arch=compute_80 $< -o $@
$(INT8)/norm.ptx: 04-kernels/35-int8-and-fp8/norm.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(INT8_FLAGS) -arch=compute_90 $< -o $@
build/texts/04-kernels/35-int8-and-fp8/%/int8.ptx: NVCC_FLAGS := $(INT8_FLAGS) -arch=compute_80
build/texts/04-kernels/35-int8-and-fp8/%/norm.ptx: $(INT8)/norm.ptx
	$(Q)mkdir -p $(@D) && cp $< $@
# If the loader does not find cublasLt, look in the toolkit's folder.
LIBS.04-kernels/35-int8-and-fp8 = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
