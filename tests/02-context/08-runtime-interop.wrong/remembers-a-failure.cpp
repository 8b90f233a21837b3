// Rejected with: "what failed once is tried again the next time"
// The device is noted before its context has been retained: after one failure, null is set for ever, and nobody hears
// of it.
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
  if (retained.count(device) == 0) CU_THROW(cuDevicePrimaryCtxRetain(&retained[device], device));
  CU_THROW(cuCtxSetCurrent(retained[device]));
}
