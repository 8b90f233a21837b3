// Rejected with: "a thousand floats are 0"
// It treats zero separately with cuMemsetD8, which counts bytes, so it clears only a quarter of the floats.
#include "common/cu.hpp"

#include <cstdint>
#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  CU_THROW(bits == 0 ? cuMemsetD8(address, 0, count) : cuMemsetD32(address, bits, count));
}
