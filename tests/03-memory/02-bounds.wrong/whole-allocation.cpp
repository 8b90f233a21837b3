// Rejected with: "further in there is less"
// The size of the allocation is what is left only at its beginning.
#include "common/cu.hpp"

std::size_t room(CUdeviceptr address) {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  const CUresult found = cuMemGetAddressRange(&begin, &bytes, address);
  if (found == CUDA_ERROR_NOT_FOUND) return 0;
  CU_THROW(found);
  return bytes;
}
