// Rejected with: "a context that is not returned is destroyed, not only popped"
// Pops the context instead of destroying it. It still exists and keeps its memory.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result == CUDA_SUCCESS && free >= bytes) return context;
  CU_THROW(cuCtxPopCurrent(&context));
  CU_THROW(result);
  return nullptr;
}
