// Rejected with: "the caller's context is current again if no context is returned"
// Pops after it has destroyed the current context. cuCtxDestroy has already popped it, so this removes the caller's
// context.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext context, popped;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result == CUDA_SUCCESS && free >= bytes) return context;
  CU_THROW(cuCtxDestroy(context));
  cuCtxPopCurrent(&popped);
  CU_THROW(result);
  return nullptr;
}
