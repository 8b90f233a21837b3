// Rejected with: "if a copy fails, the error is thrown, and no memory stays in use"
// An exception skips the line that frees the memory.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  CUdeviceptr temporary;
  CU_THROW(cuMemAllocAsync(&temporary, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(temporary, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, temporary, bytes, stream));
  CU_THROW(cuMemFreeAsync(temporary, stream));
}
