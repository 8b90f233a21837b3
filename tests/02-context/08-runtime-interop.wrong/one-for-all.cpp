// Rejected with: "each device has its own, and one can go to and fro"
// Retained once, as it should be, but once for all devices: whoever asks for the second gets the first.
#include "common/cu.hpp"

#include <mutex>

void set_device(int ordinal) {
  static std::mutex mutex;
  static CUcontext primary = nullptr;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  const std::lock_guard<std::mutex> lock(mutex);
  if (primary == nullptr) CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxSetCurrent(primary));
}
