// Rejected with: "the old context is destroyed, and no other"
// Frees the memory but keeps the context that owned it.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext, CUcontext heir) {
  CUcontext popped;
  CU_THROW(cuCtxPushCurrent(heir));
  CUdeviceptr saved;
  CU_THROW(cuMemAlloc(&saved, bytes));
  const CUresult copied = cuMemcpyDtoD(saved, memory, bytes);
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuCtxPopCurrent(&popped));
  CU_THROW(copied);
  CU_THROW(cuCtxPushCurrent(heir));
  CU_THROW(cuMemFree(memory));
  CU_THROW(cuCtxPopCurrent(&popped));
  return saved;
}
