MANY := build/05-extension/11-many-devices
EXTRA.05-extension/11-many-devices = $(MANY)/all_reduce

$(MANY)/all_reduce: 05-extension/11-many-devices/all_reduce.cpp 05-extension/11-many-devices/nccl.hpp 05-extension/11-many-devices/nvlink.hpp build/flags.lessons $(PARSED.lessons) | build/simulator/libcuda.so
	$(call say,compile,$<)
	$(Q)mkdir -p $(@D) && $(CXX) $(LESSON_FLAGS) $(SHORT_NAMES) $(CXXFLAGS) $(LDFLAGS) $< $(DRIVER) -ldl -o $@
