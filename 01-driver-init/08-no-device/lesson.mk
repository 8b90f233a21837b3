# stub/libcuda.so.1: a stand-in for the linker's stub, which not every toolkit brings.
NO_DEVICE := build/01-driver-init/08-no-device
EXTRA.01-driver-init/08-no-device = $(NO_DEVICE)/stub/libcuda.so.1

$(NO_DEVICE)/stub/libcuda.so.1: 01-driver-init/08-no-device/stub.cpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) $(CXXFLAGS) $(LDFLAGS) -shared -fPIC -Wl,-soname,libcuda.so.1 $< -o $@
