// Find the distance from an address to the end of its allocation.
#include "common/cu.hpp"

// Returns how many bytes you may write, starting at `address`: the distance to the end of the allocation that contains
// it. Returns 0 if no allocation contains the address, for example because it was freed. A context is current. Throws
// cu::Error if a driver call fails for any other reason (CU_THROW).
std::size_t room(CUdeviceptr address) {
  // Your code here.
  return address == 0 ? 0 : 1;
}
