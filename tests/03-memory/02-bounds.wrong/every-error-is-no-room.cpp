// Rejected with: "any other driver error is thrown"
// It returns 0 for every error. Without a context, for example, the driver has not looked anything up.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  if (cuMemGetAddressRange(&begin, &bytes, address) != CUDA_SUCCESS) return 0;
  return bytes - (address - begin);
}
