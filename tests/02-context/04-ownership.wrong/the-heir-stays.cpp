// Rejected with: "the caller's context is current again, and nothing lies above or below it"
// The heir is pushed and never popped: the caller's next allocation belongs to it.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  CU_THROW(cuCtxPushCurrent(heir));
  CUdeviceptr saved;
  CU_THROW(cuMemAlloc(&saved, bytes));
  CU_THROW(cuMemcpyDtoD(saved, memory, bytes));
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuCtxDestroy(from));
  return saved;
}
