# The loops apart from PyTorch's headers, as fast as the compiler can; libc10_cuda, where PyTorch has it, knows the stream.
SPEED := build/05-extension/06-speed
LIBS.05-extension/06-speed = $(SPEED)/loops.o $(patsubst $(TORCH_ROOT)/lib/lib%.so,-l%,$(wildcard $(TORCH_ROOT)/lib/libc10_cuda.so))

$(SPEED)/op.so: $(SPEED)/loops.o

$(SPEED)/loops.o: 05-extension/06-speed/loops.cpp build/flags.lessons
	$(call say,compile,$<)
	$(Q)mkdir -p $(@D) && $(CXX) $(LESSON_FLAGS) -O3 $(SIM_ARCH) -fPIC $(SHORT_NAMES) $(CXXFLAGS) $(DEPENDS) -c $< -o $@
