// Rejected with: "if the context cannot be made current, that is thrown, and it is released"
// Between the two calls nobody is responsible for what the first one took.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  CUcontext primary, popped;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxPushCurrent(primary));
  try {
    work();
  } catch (...) {
    CU_REPORT(cuCtxPopCurrent(&popped));
    CU_REPORT(cuDevicePrimaryCtxRelease(device));
    throw;
  }
  CU_THROW(cuCtxPopCurrent(&popped));
  CU_THROW(cuDevicePrimaryCtxRelease(device));
}
