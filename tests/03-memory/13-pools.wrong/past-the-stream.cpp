// Rejected with: "it takes its turn in the stream"
// The default stream does not wait for this one: the swap overtakes what was asked for before it.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  (void)stream;
  CUdeviceptr a_was;
  CU_THROW(cuMemAllocAsync(&a_was, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(a_was, a, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(b, a_was, bytes, nullptr));
  CU_THROW(cuMemFreeAsync(a_was, nullptr));
}
