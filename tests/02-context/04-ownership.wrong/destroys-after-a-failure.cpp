// Rejected with: "if the copy fails, the old context is not destroyed"
// Destroys the context before it looks at the result of the copy.
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
