// Rejected with: "the given device owns the memory and has access to it"
// It always uses device 0. On a machine with one GPU, the difference does not show.
#include "common/cu.hpp"

struct Growing {
  CUdeviceptr address;
  std::size_t reserved, backed;
};

void grow(Growing& array, std::size_t bytes, CUdevice device) {
  if (bytes <= array.backed) return;
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  kind.location.id = 0;
  (void)device;
  CUmemAccessDesc access{};
  access.location = kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t granularity = 0;
  CU_THROW(cuMemGetAllocationGranularity(&granularity, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t more = (bytes - array.backed + granularity - 1) / granularity * granularity;
  const CUdeviceptr end = array.address + array.backed;
  CUmemGenericAllocationHandle chunk;
  CU_THROW(cuMemCreate(&chunk, more, &kind, 0));
  const CUresult mapped = cuMemMap(end, more, 0, chunk, 0);
  CU_REPORT(cuMemRelease(chunk));  // a mapping keeps the memory alive; without one it is freed
  CU_THROW(mapped);
  const CUresult allowed = cuMemSetAccess(end, more, &access, 1);
  if (allowed != CUDA_SUCCESS) CU_REPORT(cuMemUnmap(end, more));
  CU_THROW(allowed);
  array.backed += more;
}
