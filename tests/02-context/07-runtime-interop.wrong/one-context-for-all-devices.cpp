// Rejected with: "each device has its own context, and a thread can switch between them"
// Retains once for all devices, so a request for the second device returns the context of the first.
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
