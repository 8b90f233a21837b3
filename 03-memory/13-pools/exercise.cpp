// Swap two buffers of the device, with memory that is there only meanwhile.
#include "common/cu.hpp"

// Exchanges `bytes` bytes at a and b, in the stream's order. The memory that this needs is taken and given back in
// stream order, too, also if something is thrown. Returns without waiting for the device. Throws cu::Error if the
// driver refuses (CU_THROW).
void swap(CUdeviceptr a, CUdeviceptr b, std::size_t bytes, CUstream stream) {
  // Your code here.
  (void)a, (void)b, (void)bytes, (void)stream;
}
