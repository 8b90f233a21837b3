// Work in the primary context, as a guest: others in this process may be using it.
#include "common/cu.hpp"

#include <functional>

// Calls work() with the primary context of `device` current. It lives for at least as long as the work lasts, and ends
// with it if nobody else has retained it. Afterwards the caller's stack is what it was before, also when work() throws.
// Throws cu::Error if the driver refuses (CU_THROW).
void in_primary(CUdevice device, const std::function<void()>& work) {
  struct Release {
    CUdevice device;
    ~Release() { CU_REPORT(cuDevicePrimaryCtxRelease(device)); }
  };
  struct Pop {
    ~Pop() {
      CUcontext popped;
      CU_REPORT(cuCtxPopCurrent(&popped));
    }
  };
  CUcontext primary;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  Release last{device};
  CU_THROW(cuCtxPushCurrent(primary));
  Pop before_that;
  work();
}
