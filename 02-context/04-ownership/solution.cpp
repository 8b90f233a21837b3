// Save what is worth keeping before a context goes down with all that it owns.
#include "common/cu.hpp"

// Copies `bytes` of device memory, which belong to the context `from`, into new memory of the context `heir`, then
// destroys `from`. Returns the new memory. The caller's current context may be the heir, another one or none; it is the
// same afterwards. Throws cu::Error if the driver refuses (CU_THROW).
CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  struct Pop {
    ~Pop() {
      CUcontext popped;
      CU_REPORT(cuCtxPopCurrent(&popped));
    }
  };
  CUdeviceptr saved;
  {
    CU_THROW(cuCtxPushCurrent(heir));  // whoever is current owns what is allocated
    Pop at_the_end;
    CU_THROW(cuMemAlloc(&saved, bytes));
    CUresult copied = cuMemcpyDtoD(saved, memory, bytes);
    if (copied == CUDA_SUCCESS) copied = cuCtxSynchronize();  // the copy may still be under way when its call returns
    if (copied != CUDA_SUCCESS) CU_REPORT(cuMemFree(saved));
    CU_THROW(copied);
  }
  CU_THROW(cuCtxDestroy(from));
  return saved;
}
