// Rejected with: "a caller without a context has none afterwards"
// The context is made and forgotten: it stays current, and it keeps its memory.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext ours;
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return free;
}
