// Rejected with: "a caller without a context gets an answer"
// It works for as long as the caller happens to have a context.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice) {
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return free;
}
