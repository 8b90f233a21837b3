// Rejected with: "what was not pushed is not popped"
// One guard for both, made before either is taken: where retaining fails, the caller's context is popped.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  struct Guard {
    CUdevice device;
    ~Guard() {
      CUcontext popped;
      cuCtxPopCurrent(&popped);
      cuDevicePrimaryCtxRelease(device);
    }
  };
  Guard both{device};
  CUcontext primary;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxPushCurrent(primary));
  work();
}
