// Rejected with: "an allocation may be larger than 32 bits can count"
// An offset of 5 GiB is one of 1 GiB in an unsigned int: four times as much room as there is.
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
