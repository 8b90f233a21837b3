// Rejected with: "inside the allocation, there is less room"
// The room equals the size of the allocation only at its start.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  const CUresult found = cuMemGetAddressRange(&begin, &bytes, address);
  if (found == CUDA_ERROR_NOT_FOUND) return 0;
  CU_THROW(found);
  return bytes;
}
