// Rejected with: "repeated calls retain the context once"
// Adds a reference in every call. None of them is ever released.
#include "common/cu.hpp"

void set_device(int ordinal) {
  CU_THROW(cuInit(0));
  CUdevice device;
  CUcontext primary;
  CU_THROW(cuDeviceGet(&device, ordinal));
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxSetCurrent(primary));
}
