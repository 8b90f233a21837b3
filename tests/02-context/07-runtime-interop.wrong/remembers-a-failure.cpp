// Rejected with: "a retain that has failed is tried again in the next call"
// Creates the map entry before the context is retained. After one failure, null is set in every later call, without an
// error.
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
