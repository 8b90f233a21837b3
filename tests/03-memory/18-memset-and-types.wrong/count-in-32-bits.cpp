// Rejected with: "a count above 4 billion is not truncated"
// A GPU with 141 GB has room for more floats than an unsigned int can count.
#include "common/cu.hpp"

#include <cstdint>
#include <cstring>

void fill(CUdeviceptr address, std::size_t count, float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  CU_THROW(cuMemsetD32(address, bits, static_cast<unsigned int>(count)));
}
