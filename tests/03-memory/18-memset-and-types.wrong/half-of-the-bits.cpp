// Rejected with: "a thousand floats are 0.1"
// The lower 16 bits of 1.0f are zero, so the upper half is enough. The lower bits of 0.1f are not zero.
#include "common/cu.hpp"

#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  unsigned int bits;
  std::memcpy(&bits, &value, sizeof bits);
  CU_THROW(cuMemsetD32(address, bits & 0xffff0000u, count));
}
