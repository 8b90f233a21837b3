// Rejected with: "work that throws is cleaned up after, too"
// Pop and release are there, but an exception jumps over them.
#include "common/cu.hpp"

#include <functional>

void in_primary(CUdevice device, const std::function<void()>& work) {
  CUcontext primary, popped;
  CU_THROW(cuDevicePrimaryCtxRetain(&primary, device));
  CU_THROW(cuCtxPushCurrent(primary));
  work();
  CU_THROW(cuCtxPopCurrent(&popped));
  CU_THROW(cuDevicePrimaryCtxRelease(device));
}
