// Rejected with: "whatever the work throws, it is cleaned up after, and passes on as it is"
// What is no std::exception passes by, and leaves everything as it was in the middle.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  CUcontext primary, popped;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  if (const CUresult pushed = cuCtxPushCurrent(primary); pushed != CUDA_SUCCESS) {
    CU_REPORT(cuDevicePrimaryCtxRelease(device));
    CU_THROW(pushed);
  }
  try {
    work();
  } catch (const std::exception&) {
    CU_REPORT(cuCtxPopCurrent(&popped));
    CU_REPORT(cuDevicePrimaryCtxRelease(device));
    throw;
  }
  CU_THROW(cuCtxPopCurrent(&popped));
  CU_THROW(cuDevicePrimaryCtxRelease(device));
}
