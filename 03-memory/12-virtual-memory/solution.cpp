// Let an array grow in place.
#include "common/cu.hpp"

// A range of reserved addresses. Its first `backed` bytes have memory that the device may read and write.
struct Growing {
  CUdeviceptr address;
  std::size_t reserved, backed;
};

// Grows the array in place, so that `backed` is at least `bytes`, a multiple of the device's minimum granularity. All
// new memory comes in one chunk, directly after the old memory, whose contents are unchanged. If the array is large
// enough already, nothing happens. Only the mapping keeps the memory alive: unmapping it must free it. Throws cu::Error
// if a driver call fails (CU_THROW); then no memory stays allocated, and the array is unchanged.
void grow(Growing& array, std::size_t bytes, CUdevice device) {
  if (bytes <= array.backed) return;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t granularity = 0;
  CU_THROW(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t more = (bytes - array.backed + granularity - 1) / granularity * granularity;
  const CUdeviceptr end = array.address + array.backed;
  CUmemGenericAllocationHandle chunk;
  CU_THROW(cuMemCreate(&chunk, more, &properties, 0));
  const CUresult mapped = cuMemMap(end, more, 0, chunk, 0);
  CU_REPORT(cuMemRelease(chunk));  // a mapping keeps the memory alive; without one it is freed
  CU_THROW(mapped);
  const CUresult allowed = cuMemSetAccess(end, more, &access, 1);
  if (allowed != CUDA_SUCCESS) CU_REPORT(cuMemUnmap(end, more));
  CU_THROW(allowed);
  array.backed += more;
}
