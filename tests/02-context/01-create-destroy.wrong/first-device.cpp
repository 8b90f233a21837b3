// Rejected with: "a device that does not exist is an error"
// Ignores its parameter and always uses the first device.
#include "common/cu.hpp"

CUcontext create_with(CUdevice, std::size_t bytes) {
  CUdevice first;
  CUcontext context;
  CU_THROW(cuDeviceGet(&first, 0));
  CU_THROW(cuCtxCreate(&context, nullptr, 0, first));
  std::size_t free = 0, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result == CUDA_SUCCESS && free >= bytes) return context;
  CU_THROW(cuCtxDestroy(context));
  CU_THROW(result);
  return nullptr;
}
