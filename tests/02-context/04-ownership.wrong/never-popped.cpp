// Rejected with: "the caller's context is current again, and its stack has one entry as before"
// Pushes the heir and never pops it. The caller's next allocation belongs to the heir.
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
