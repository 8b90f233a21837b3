// The runtime's cudaSetDevice, in a few driver calls: what makes the two APIs meet.
#include "common/cu.hpp"

#include <map>
#include <mutex>

// Makes the primary context of a device current for the calling thread, in the place of what was on top of its stack
// (if anything was). However often it is called, and by however many threads, the primary context of a device is
// retained once, and never released. Initialises the driver if nobody has. Throws cu::Error if there is no such device
// (CU_THROW), and changes nothing then.
void set_device(int ordinal) {
  static std::mutex mutex;
  static std::map<CUdevice, CUcontext> retained;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  const std::lock_guard<std::mutex> lock(mutex);
  CUcontext& primary = retained[device];
  if (primary == nullptr) CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxSetCurrent(primary));  // on every call: what is current is the thread's
}
