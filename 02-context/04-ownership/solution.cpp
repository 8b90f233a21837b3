// Saves a result from a context that is about to be destroyed.
#include "common/cu.hpp"

// Copies `bytes` bytes of device memory, which belong to the context `from`, to new memory that belongs to the context
// `heir`, and then destroys `from`. Returns the new memory. Work that was submitted in `from` may still be writing to
// the memory; the copy contains its results. The caller's current context can be `heir`, another context or none, and
// is the same afterwards. Throws cu::Error if a driver call fails (CU_THROW). In that case, `from` still exists and no
// memory is leaked.
CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  {
    const cu::Current current(from);
    CU_THROW(cuCtxSynchronize());  // whatever still writes to the memory must finish first
  }
  const cu::Current current(heir);  // the new memory belongs to the current context
  CUdeviceptr saved;
  CU_THROW(cuMemAlloc(&saved, bytes));
  CUresult result = cuMemcpyDtoD(saved, memory, bytes);
  if (result == CUDA_SUCCESS)
    result = cuCtxSynchronize();  // a copy on the device may still be running when its call returns
  if (result == CUDA_SUCCESS) result = cuCtxDestroy(from);
  if (result != CUDA_SUCCESS) CU_REPORT(cuMemFree(saved));
  CU_THROW(result);
  return saved;
}
