// Rejected with: "memory that somebody allocated is not free"
// The two results of cuMemGetInfo are easily swapped: free comes first.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext ours;
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&total, &free));
  CU_THROW(cuCtxDestroy(ours));
  return free;
}
