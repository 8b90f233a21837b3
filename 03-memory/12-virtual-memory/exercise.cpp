// Let an array grow in place.
#include "common/cu.hpp"

// A range of reserved addresses. Its first `backed` bytes have memory that the device may read and write.
struct Growing {
  CUdeviceptr address;
  std::size_t reserved, backed;
};

// Grows the array in place, so that `backed` is at least `bytes`, a multiple of the device's minimum granularity. All
// new memory comes in one chunk, directly after the old memory, whose contents are unchanged. If the array is large
// enough already, nothing happens. Only the mapping keeps the memory alive: unmapping it must free it. Throws cu::Error
// if a driver call fails (CU_THROW); then no memory stays allocated, and the array is unchanged.
void grow(Growing& array, std::size_t bytes, CUdevice device) {
  // Your code here.
  (void)array, (void)bytes, (void)device;
}
