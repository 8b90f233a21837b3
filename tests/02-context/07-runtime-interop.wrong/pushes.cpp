// Rejected with: "set_device replaces the top of the stack and nothing below it"
// Pushes in every call. No caller ever pops, so the stack grows.
#include "common/cu.hpp"

void set_device(int ordinal) {
  static CUcontext primary = nullptr;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  if (primary == nullptr) CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxPushCurrent(primary));
}
