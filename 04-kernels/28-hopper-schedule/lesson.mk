# wgmma and setmaxnreg need an architecture-specific target: these kernels run on compute capability 9.0 only. The multicast of the exercise
# also runs on later ones.
HOPPER_FLAGS := $(filter-out -arch=%,$(NVCC_FLAGS))
build/04-kernels/28-hopper-schedule/kernels.ptx build/texts/04-kernels/28-hopper-schedule/%/kernels.ptx: NVCC_FLAGS := $(HOPPER_FLAGS) -arch=compute_90a
build/tests/04-kernels/28-hopper-schedule/%/exercise.ptx: NVCC_FLAGS := $(HOPPER_FLAGS) -arch=compute_90
# If the loader does not find cublasLt, look in the toolkit's folder.
LIBS.04-kernels/28-hopper-schedule = -ldl -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib)
