// Creates a context for a program that needs a certain amount of device memory.
#include "common/cu.hpp"

// Creates a context on `device` and returns it. It is current for the caller, who will destroy it. If the device then
// has less than `bytes` bytes of free memory, destroys the context again and returns null. Whenever no context is
// returned, the caller's current context is the same as before. Throws cu::Error if a driver call fails (CU_THROW).
CUcontext create_with(CUdevice device, std::size_t bytes) {
  CUcontext context;
  CU_THROW(cuCtxCreate(&context, nullptr, 0, device));
  std::size_t free = 0, total;
  const CUresult result = cuMemGetInfo(&free, &total);
  if (result == CUDA_SUCCESS && free >= bytes) return context;
  CU_THROW(cuCtxDestroy(context));  // also pops the context, so the caller's context is current again
  CU_THROW(result);
  return nullptr;
}
