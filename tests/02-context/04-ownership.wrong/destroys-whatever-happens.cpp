// Rejected with: "what cannot be copied is not thrown away"
// The context is destroyed before anybody has looked whether the copy succeeded.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  CUcontext popped;
  CU_THROW(cuCtxPushCurrent(heir));
  CUdeviceptr saved = 0;
  const CUresult allocated = cuMemAlloc(&saved, bytes);
  const CUresult copied = cuMemcpyDtoD(saved, memory, bytes);
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuCtxPopCurrent(&popped));
  CU_THROW(cuCtxDestroy(from));
  CU_THROW(allocated);
  CU_THROW(copied);
  return saved;
}
