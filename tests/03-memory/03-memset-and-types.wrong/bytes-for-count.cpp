// Rejected with: "what lies before and behind is not touched"
// cuMemsetD32 counts words, not bytes: four times as much is filled.
#include "common/cu.hpp"

#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  unsigned int bits;
  std::memcpy(&bits, &value, sizeof bits);
  CU_THROW(cuMemsetD32(address, bits, count * sizeof(float)));
}
