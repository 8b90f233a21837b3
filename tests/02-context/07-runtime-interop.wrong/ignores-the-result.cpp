// Rejected with: "every driver error is thrown"
// Ignores the result of cuCtxSetCurrent. The caller then works in a different context, or in none.
#include "common/cu.hpp"

#include <map>
#include <mutex>

void set_device(int ordinal) {
  static std::mutex mutex;
  static std::map<CUdevice, CUcontext> retained;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  const std::lock_guard<std::mutex> lock(mutex);
  CUcontext& primary = retained[device];
  if (primary == nullptr) CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  cuCtxSetCurrent(primary);
}
