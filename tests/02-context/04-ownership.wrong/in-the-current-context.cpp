// Rejected with: "the copy belongs to the heir, whichever context was current"
// Allocates in the caller's current context instead of the heir.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  CUcontext before, popped;
  CU_THROW(cuCtxGetCurrent(&before));
  if (before == nullptr) CU_THROW(cuCtxPushCurrent(heir));
  CUdeviceptr saved;
  CU_THROW(cuMemAlloc(&saved, bytes));
  CU_THROW(cuMemcpyDtoD(saved, memory, bytes));
  CU_THROW(cuCtxSynchronize());
  if (before == nullptr) CU_THROW(cuCtxPopCurrent(&popped));
  CU_THROW(cuCtxDestroy(from));
  return saved;
}
