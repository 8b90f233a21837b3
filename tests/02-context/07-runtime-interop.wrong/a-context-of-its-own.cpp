// Rejected with: "the primary context is current and can be used"
// Creates a context instead of using the one that the runtime and other libraries share.
#include "common/cu.hpp"

void set_device(int ordinal) {
  static CUcontext own = nullptr;
  CU_THROW(cuInit(0));
  CUdevice device;
  CU_THROW(cuDeviceGet(&device, ordinal));
  if (own == nullptr) {
    CU_THROW(cuCtxCreate(&own, nullptr, 0, device));
    CU_THROW(cuCtxPopCurrent(&own));
  }
  CU_THROW(cuCtxSetCurrent(own));
}
