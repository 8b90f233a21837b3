// Rejected with: "swap returns while the stream is still busy"
// cuMemFree waits until the device is done with everything: the destructor stands still.
#include "common/cu.hpp"

void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  cu::Memory memory(bytes);
  const CUdeviceptr a_was = memory.address;
  CU_THROW(cuMemcpyDtoDAsync(a_was, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, a_was, bytes, stream));
}
