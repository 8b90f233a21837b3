// Rejected with: "the last guest turns off the light"
// The primary context is retained once more with every call, and lives for ever.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  struct Pop {
    ~Pop() {
      CUcontext popped;
      CU_REPORT(cuCtxPopCurrent(&popped));
    }
  };
  CUcontext primary;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxPushCurrent(primary));
  Pop at_the_end;
  work();
}
