// Find the distance from an address to the end of its allocation.
#include "common/cu.hpp"

// Returns how many bytes you may write, starting at `address`: the distance to the end of the allocation that contains
// it. Returns 0 if no allocation contains the address, for example because it was freed. A context is current. Throws
// cu::Error if a driver call fails for any other reason (CU_THROW).
std::size_t room(CUdeviceptr address) {
  CUdeviceptr start = 0;
  std::size_t size = 0;
  const CUresult result = cuMemGetAddressRange(&start, &size, address);
  if (result == CUDA_ERROR_NOT_FOUND) return 0;
  CU_THROW(result);
  return size - (address - start);
}
