// Ask the driver how much room there is at an address.
#include "common/cu.hpp"

// How many bytes may be written from `address` on: to the end of the allocation that it lies in. 0 if it lies in none,
// never was in one, or no longer is: that is an answer, not an error. A context is current. Throws cu::Error if the
// driver refuses for another reason (CU_THROW).
std::size_t room(CUdeviceptr address) {
  // Your code here.
  return address == 0 ? 0 : 1;
}
