// Rejected with: "the work can allocate: the primary context is current"
// Retaining makes nothing current.
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
  work();
}
