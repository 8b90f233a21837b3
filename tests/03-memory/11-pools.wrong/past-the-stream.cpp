// Rejected with: "the swap is in stream order"
// The default stream does not wait for a non-blocking stream, so the swap overtakes earlier work.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  (void)stream;
  CUdeviceptr temporary;
  CU_THROW(cuMemAllocAsync(&temporary, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(temporary, a, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, nullptr));
  CU_THROW(cuMemcpyDtoDAsync(b, temporary, bytes, nullptr));
  CU_THROW(cuMemFreeAsync(temporary, nullptr));
}
