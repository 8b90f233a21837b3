// Rejected with: "swap returns while the stream is still busy"
// cuMemFree may synchronize: the destructor waits until the device has finished.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  cu::Memory memory(bytes);
  const CUdeviceptr temporary = memory.address;
  CU_THROW(cuMemcpyDtoDAsync(temporary, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, temporary, bytes, stream));
}
