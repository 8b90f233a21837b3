// Rejected with: "more floats than 32 bits can count are not taken for a few"
// On a GPU of 141 GB there is room for more floats than an unsigned int counts.
#include "common/cu.hpp"

#include <cstdint>
#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  CU_THROW(cuMemsetD32(address, bits, static_cast<unsigned int>(count)));
}
