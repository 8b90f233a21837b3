# libreal_ops.so: the ops on the CPU, with a C interface. The kernels are in kernels.ptx, as in every lesson.
REAL_OPS := build/05-extension/10-nms
EXTRA.05-extension/10-nms = $(REAL_OPS)/libreal_ops.so

$(REAL_OPS)/libreal_ops.so: 05-extension/10-nms/host.cpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) -fPIC $(SHORT_NAMES) $(CXXFLAGS) -MF $(@:.so=.d) $< $(LDFLAGS) -shared -o $@
