// Ask how much memory is free on a device. The driver answers only a thread that has a context.
#include "common/cu.hpp"

// Returns the free memory of `device` in bytes. The caller may have a context or none; afterwards its current context
// is what it was before, and nothing of ours is left. Throws cu::Error if the driver refuses (CU_THROW).
std::size_t free_memory(CUdevice device) {
  CUcontext ours;
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult answer = cuMemGetInfo(&free, &total);
  CU_THROW(cuCtxDestroy(ours));  // also takes it off the stack: the caller's is current again
  CU_THROW(answer);
  return free;
}
