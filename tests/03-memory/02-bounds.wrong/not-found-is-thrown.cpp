// Rejected with: "what was freed has no room"
// CUDA_ERROR_NOT_FOUND is the driver's answer to the question; only what it did not answer is an error.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  CU_THROW(cuMemGetAddressRange(&begin, &bytes, address));
  return bytes - (address - begin);
}
