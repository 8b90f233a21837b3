// Rejected with: "the context is destroyed, not only popped"
// A context that is current nowhere still exists, and keeps what it has taken of the device's memory.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext ours;
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult answer = cuMemGetInfo(&free, &total);
  CU_THROW(cuCtxPopCurrent(&ours));
  CU_THROW(answer);
  return free;
}
