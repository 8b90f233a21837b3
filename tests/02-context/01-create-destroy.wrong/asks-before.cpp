// Rejected with: "the memory that the new context itself takes is not free"
// Queries the memory through the caller's context, before the new context has taken its share.
#include "common/cu.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers != nullptr) {
    std::size_t free, total;
    CU_THROW(cuMemGetInfo(&free, &total));
    if (free < bytes) return nullptr;
  }
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  if (callers != nullptr) return context;
  std::size_t free = 0, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result == CUDA_SUCCESS && free >= bytes) return context;
  CU_THROW(cuCtxDestroy(context));
  CU_THROW(result);
  return nullptr;
}
