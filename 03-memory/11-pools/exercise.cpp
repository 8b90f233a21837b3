// Swap two device buffers, with temporary memory from a pool.
#include "common/cu.hpp"

// Exchanges the `bytes` bytes at a and b, in stream order. The temporary memory for it is allocated and freed in stream
// order too, and freed even if an exception is thrown. Returns without waiting for the device. Throws cu::Error if a
// driver call fails (CU_THROW).
void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  // Your code here.
  (void)a, (void)b, (void)bytes, (void)stream;
}
