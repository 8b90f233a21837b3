# libsampling_ops.so: the ops on the CPU, with a C interface. The kernels are in kernels.ptx, as in every lesson.
SAMPLING_OPS := build/05-extension/11-sampling-ops
EXTRA.05-extension/11-sampling-ops = $(SAMPLING_OPS)/libsampling_ops.so

$(SAMPLING_OPS)/libsampling_ops.so: 05-extension/11-sampling-ops/host.cpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) -fPIC $(SHORT_NAMES) $(CXXFLAGS) -MF $(@:.so=.d) $< $(LDFLAGS) -shared -o $@
