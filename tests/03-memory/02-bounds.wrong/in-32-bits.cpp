// Rejected with: "an allocation may be larger than 4 GiB"
// In an unsigned int, an offset of 5 GiB becomes 1 GiB, so the result is much too large.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  const CUresult found = cuMemGetAddressRange(&begin, &bytes, address);
  if (found == CUDA_ERROR_NOT_FOUND) return 0;
  CU_THROW(found);
  const unsigned int offset = address - begin;
  return bytes - offset;
}
