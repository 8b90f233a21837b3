// Rejected with: "at its start, there is room for the whole allocation"
// The last of 1000 bytes has index 999, but from byte 0 there is room for 1000.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  const CUresult found = cuMemGetAddressRange(&begin, &bytes, address);
  if (found == CUDA_ERROR_NOT_FOUND) return 0;
  CU_THROW(found);
  const CUdeviceptr last = begin + bytes - 1;
  return last - address;
}
