// Rejected with: "more floats than there are: what the driver refuses is thrown"
// Nobody hears that the driver has refused, and nothing was filled.
#include "common/cu.hpp"

#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  unsigned int bits;
  std::memcpy(&bits, &value, sizeof bits);
  (void)cuMemsetD32(address, bits, count);
}
