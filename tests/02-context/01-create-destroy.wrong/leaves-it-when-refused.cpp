// Rejected with: "where the driver refuses, it throws and leaves nothing behind all the same"
// The throw in the middle jumps over the destruction.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext ours;
  CU_THROW(cuCtxCreate(&ours, nullptr, 0, device));
  std::size_t free = 0, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  CU_THROW(cuCtxDestroy(ours));
  return free;
}
