// Rejected with: "the bytes outlive the context that owned them"
// The copy is made in the context that is about to go, and goes with it.
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
