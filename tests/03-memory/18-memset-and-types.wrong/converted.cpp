// Rejected with: "a thousand floats are 1"
// Converted to an integer, 1.0f is 1. Read as a float, the bits of 1 are the smallest positive number.
#include "common/cu.hpp"

void fill(CUdeviceptr address, std::size_t count, float value) {
  CU_THROW(cuMemsetD32(address, static_cast<unsigned int>(value), count));
}
