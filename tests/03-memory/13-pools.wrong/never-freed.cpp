// Rejected with: "nothing of the pool stays in use"
// The pool's memory outlives the variable, as any other does.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  CUdeviceptr a_was;
  CU_THROW(cuMemAllocAsync(&a_was, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a_was, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, a_was, bytes, stream));
}
