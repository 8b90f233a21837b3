// Rejected with: "a failure is thrown, and the copy is not leaked"
// Throws if the old context cannot be destroyed, and forgets the memory that it has already allocated.
#include "common/cu.hpp"

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  {
    cu::Current in(from);
    CU_THROW(cuCtxSynchronize());
  }
  cu::Current in(heir);
  CUdeviceptr saved;
  CU_THROW(cuMemAlloc(&saved, bytes));
  CU_THROW(cuMemcpyDtoD(saved, memory, bytes));
  CU_THROW(cuCtxSynchronize());
  CU_THROW(cuCtxDestroy(from));
  return saved;
}
