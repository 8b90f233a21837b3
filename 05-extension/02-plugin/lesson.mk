# libop.so: the op behind the C interface of op.h. The kernels' PTX is compiled into it as a string.
PLUGIN := build/05-extension/02-plugin
EXTRA.05-extension/02-plugin = $(PLUGIN)/libop.so
# The loader finds it beside the program, or in the lesson's folder for a check or an edited copy.
LIBS.05-extension/02-plugin = -L$(PLUGIN) -lop -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../../../05-extension/02-plugin'

$(PLUGIN)/kernels.ptx.inc: $(PLUGIN)/kernels.ptx
	$(Q){ printf 'R"ptx('; cat $<; echo ')ptx"'; } > $@

$(PLUGIN)/plugin.o: 05-extension/02-plugin/plugin.cpp $(PLUGIN)/kernels.ptx.inc build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) -fPIC -fvisibility=hidden -I$(PLUGIN) $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@

$(PLUGIN)/libop.so: $(PLUGIN)/plugin.o | build/simulator/libcuda.so
	$(Q)$(CXX) -shared -pthread $< $(DRIVER) -o $@
