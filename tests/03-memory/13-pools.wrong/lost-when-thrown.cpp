// Rejected with: "also when a copy is refused, and that is thrown"
// A throw leaves before the memory has been given back.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  CUdeviceptr a_was;
  CU_THROW(cuMemAllocAsync(&a_was, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a_was, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, a_was, bytes, stream));
  CU_THROW(cuMemFreeAsync(a_was, stream));
}
