// Rejected with: "it lives as long as the work lasts, also when the others let go"
// Where somebody else has retained it, it keeps no hold of its own: when they release it, the work stands without a
// context.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  struct Release {
    CUdevice device;
    bool ours;
    ~Release() {
      if (ours) CU_REPORT(cuDevicePrimaryCtxRelease(device));
    }
  };
  unsigned flags;
  int active;
  CUcontext primary;
  CU_THROW(cuDevicePrimaryCtxGetState(device, &flags, &active));
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  Release last{device, active == 0};
  if (active) CU_THROW(cuDevicePrimaryCtxRelease(device));
  cu::Current in(primary);
  work();
}
