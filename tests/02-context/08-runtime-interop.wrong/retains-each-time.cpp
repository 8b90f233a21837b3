// Rejected with: "called often, it retains once"
// The count goes up with every call, and nobody could ever bring it down again.
#include "common/cu.hpp"

void set_device(int ordinal) {
  CU_THROW(cuInit(0));
  CUdevice device;
  CUcontext primary;
  CU_THROW(cuDeviceGet(&device, ordinal));
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxSetCurrent(primary));
}
