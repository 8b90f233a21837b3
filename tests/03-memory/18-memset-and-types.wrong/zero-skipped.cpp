// Rejected with: "negative zero keeps its sign, and NaN keeps its bits"
// -0.0f == 0 is true, but its bits are not zero.
#include "common/cu.hpp"

#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  unsigned int bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value == 0) {
    CU_THROW(cuMemsetD8(address, 0, count * sizeof(float)));
  } else {
    CU_THROW(cuMemsetD32(address, bits, count));
  }
}
