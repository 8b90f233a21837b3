// Swap two device buffers, with temporary memory from a pool.
#include "common/cu.hpp"

// Exchanges the `bytes` bytes at a and b, in stream order. The temporary memory for it is allocated and freed in stream
// order too, and freed even if an exception is thrown. Returns without waiting for the device. Throws cu::Error if a
// driver call fails (CU_THROW).
void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  struct Temporary {
    CUdeviceptr address;
    CUstream stream;
    ~Temporary() {
      if (address != 0) CU_REPORT(cuMemFreeAsync(address, stream));
    }
  } temporary{0, stream};
  CU_THROW(cuMemAllocAsync(&temporary.address, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(temporary.address, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, temporary.address, bytes, stream));
}
