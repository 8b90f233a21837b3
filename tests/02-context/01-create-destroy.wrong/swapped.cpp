// Rejected with: "too little free memory returns null, and the caller has no context"
// Swaps the two results of cuMemGetInfo. The free memory comes first.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult result = cuMemGetInfo(&total, &free);
  if (result == CUDA_SUCCESS && free >= bytes) return context;
  CU_THROW(cuCtxDestroy(context));
  CU_THROW(result);
  return nullptr;
}
