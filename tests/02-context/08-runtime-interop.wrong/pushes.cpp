// Rejected with: "it takes the place of what was on top, and of nothing else"
// With every call the stack grows, and nobody ever pops.
#include "common/cu.hpp"

void set_device(int ordinal) {
  static CUcontext primary = nullptr;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  if (primary == nullptr) CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxPushCurrent(primary));
}
