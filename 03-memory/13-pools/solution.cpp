// Swap two buffers of the device, with memory that is there only meanwhile.
#include "common/cu.hpp"

// Exchanges `bytes` bytes at a and b, in the stream's order. The memory that this needs is taken and given back in
// stream order, too, also if something is thrown. Returns without waiting for the device. Throws cu::Error if the
// driver refuses (CU_THROW).
void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  struct Meanwhile {
    CUdeviceptr address;
    CUstream stream;
    ~Meanwhile() {
      if (address != 0) CU_REPORT(cuMemFreeAsync(address, stream));
    }
  } a_was{0, stream};
  CU_THROW(cuMemAllocAsync(&a_was.address, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a_was.address, a, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(a, b, bytes, stream));
  CU_THROW(cuMemcpyDtoDAsync(b, a_was.address, bytes, stream));
}
