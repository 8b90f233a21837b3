// Rejected with: "the copy can be used after the old context is destroyed"
// Makes the copy in the context that is about to be destroyed, so the copy is released with it.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext) {
  CU_THROW(cuCtxPushCurrent(from));
  CUdeviceptr saved;
  CU_THROW(cuMemAlloc(&saved, bytes));
  CU_THROW(cuMemcpyDtoD(saved, memory, bytes));
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuCtxDestroy(from));  // current, so it leaves the stack, too
  return saved;
}
