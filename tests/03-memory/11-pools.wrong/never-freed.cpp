// Rejected with: "no memory from the pool stays in use"
// Like any device memory, memory from a pool outlives the variable that holds its address.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  CUdeviceptr temporary;
  CU_THROW(cuMemAllocAsync(&temporary, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(temporary, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, temporary, bytes, stream));
}
