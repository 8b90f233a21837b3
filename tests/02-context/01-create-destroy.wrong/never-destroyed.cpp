// Rejected with: "too little free memory returns null, and the caller has no context"
// Returns null, but leaves the new context on the caller's stack.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  return free >= bytes ? context : nullptr;
}
