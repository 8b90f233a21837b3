// Rejected with: "the caller's own context is current again, and there is nothing else on the stack"
// Setting throws the caller's context away; what is on top afterwards is a primary context that may have ended.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  struct Release {
    CUdevice device;
    ~Release() { CU_REPORT(cuDevicePrimaryCtxRelease(device)); }
  };
  CUcontext primary;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  Release at_the_end{device};
  CU_THROW(cuCtxSetCurrent(primary));
  work();
}
