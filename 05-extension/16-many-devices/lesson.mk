MANY := build/05-extension/16-many-devices
EXTRA.05-extension/16-many-devices = $(MANY)/all_reduce

$(MANY)/all_reduce: 05-extension/16-many-devices/all_reduce.cpp 05-extension/16-many-devices/nccl.hpp 05-extension/16-many-devices/nvlink.hpp build/flags.lessons $(PARSED) | build/simulator/libcuda.so
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) $(SHORT_NAMES) $(CXXFLAGS) $< $(DRIVER) -ldl -o $@
