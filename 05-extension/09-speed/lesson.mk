# The loops are compiled without PyTorch's headers and with -O3. libc10_cuda, where PyTorch has it, knows the current stream.
SPEED := build/05-extension/09-speed
# AVX2, if the CPU has it.
SPEED_ARCH := $(if $(shell grep -m 1 -ow avx2 /proc/cpuinfo),-march=x86-64-v3)
LIBS.05-extension/09-speed = $(SPEED)/loops.o $(patsubst $(TORCH_ROOT)/lib/lib%.so,-l%,$(wildcard $(TORCH_ROOT)/lib/libc10_cuda.so))

$(SPEED)/op.so: $(SPEED)/loops.o

$(SPEED)/loops.o: 05-extension/09-speed/loops.cpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) -O3 $(SPEED_ARCH) -fPIC $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@
