// Rejected with: "the floats before and after the range are unchanged"
// cuMemsetD32 counts words, not bytes, so this fills four times as much.
#include "common/cu.hpp"

#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  unsigned int bits;
  std::memcpy(&bits, &value, sizeof bits);
  CU_THROW(cuMemsetD32(address, bits, count * sizeof(float)));
}
