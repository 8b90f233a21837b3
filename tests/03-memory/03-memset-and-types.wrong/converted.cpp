// Rejected with: "a thousand ones are ones"
// 1.0f converted to an integer is 1; read as a float, the bits of 1 are the smallest number above zero.
#include "common/cu.hpp"

void fill(CUdeviceptr address, std::size_t count, float value) {
  CU_THROW(cuMemsetD32(address, static_cast<unsigned int>(value), count));
}
