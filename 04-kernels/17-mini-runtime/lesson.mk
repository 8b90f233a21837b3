# main.cpp is a CUDA program, so nvcc compiles both its host code and its device code. libruntime.a replaces the toolkit's runtime.
# Its image contains PTX without compression, which runs on any GPU and on the simulator.
MINI := build/04-kernels/17-mini-runtime
EXTRA.04-kernels/17-mini-runtime = $(MINI)/libruntime.a
LIBS.04-kernels/17-mini-runtime = $(MINI)/libruntime.a $(DRIVER)
HOST_CODE += 04-kernels/17-mini-runtime

$(MINI)/runtime.o: 04-kernels/17-mini-runtime/runtime.cpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@

$(MINI)/libruntime.a: $(MINI)/runtime.o
	$(Q)rm -f $@ && ar rcs $@ $<

compile_program = $(Q)$(NVCC) $(filter-out -ptx,$(NVCC_FLAGS)) -O2 -x cu -c --no-compress -cudart none \
  $(nvcc_depends) $< -o $@

$(MINI)/main.o: 04-kernels/17-mini-runtime/main.cpp build/flags.lessons
	$(call step,nvcc)
	$(compile_program)

build/texts/04-kernels/17-mini-runtime/%/main.o: build/texts/04-kernels/17-mini-runtime/%/main.cpp build/flags.lessons
	$(compile_program)
