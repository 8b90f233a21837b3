// Rejected with: "they belong to the heir, whoever was current"
// cuMemAlloc gives memory to whoever is current, and here that is whoever the caller works in.
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
