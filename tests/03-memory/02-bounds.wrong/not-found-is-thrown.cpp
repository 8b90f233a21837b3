// Rejected with: "freed memory has no room"
// Here, CUDA_ERROR_NOT_FOUND is a result and not an error: no allocation contains the address.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  CU_THROW(cuMemGetAddressRange(&begin, &bytes, address));
  return bytes - (address - begin);
}
