// Let an array grow in place.
#include "common/cu.hpp"

// Addresses from `address` on: `reserved` bytes are reserved, of which the first `backed` bytes have memory that the
// device may read and write.
struct Growing {
  CUdeviceptr address;
  std::size_t reserved, backed;
};

// Makes backed at least `bytes`, a multiple of the minimum granularity, in one piece behind what is there; what is
// there stays as it is. If there is enough already, nothing happens. Only the mapping keeps the memory: when somebody
// unmaps it, it is the device's again. Throws cu::Error if the driver refuses (CU_THROW), and then no memory has been
// taken.
void grow(Growing& array, std::size_t bytes, CUdevice device) {
  // Your code here.
  (void)array, (void)bytes, (void)device;
}
