// Rejected with: "a failed query throws, and the new context is destroyed"
// Throws between creating and destroying, so a failed query leaks the context.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free = 0, total;
  CU_THROW(cuMemGetInfo(&free, &total));
  if (free >= bytes) return context;
  CU_THROW(cuCtxDestroy(context));
  return nullptr;
}
