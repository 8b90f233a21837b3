// Rejected with: "the light stays on for the others, and so does their memory"
// A reset ends the context whoever else has retained it. A library that does so takes down its caller's memory.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  struct Reset {
    CUdevice device;
    ~Reset() { CU_REPORT(cuDevicePrimaryCtxReset(device)); }
  };
  struct Pop {
    ~Pop() {
      CUcontext popped;
      CU_REPORT(cuCtxPopCurrent(&popped));
    }
  };
  CUcontext primary;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  Reset last{device};
  CU_THROW(cuCtxPushCurrent(primary));
  Pop before_that;
  work();
}
