// Rejected with: "the caller's context is still current and still works"
// It borrows the caller's context where there is one, and destroys what it did not create.
#include "common/cu.hpp"

std::size_t free_memory(CUdevice device) {
  CUcontext context;
  CU_THROW(cuCtxGetCurrent(&context));
  if (context == nullptr) CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  CU_THROW(cuCtxDestroy(context));
  return free;
}
