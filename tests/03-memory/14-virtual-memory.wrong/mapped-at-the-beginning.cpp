// Rejected with: "what was there stays, and what is new can be used"
// The second piece is mapped over the first, which is refused.
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
  kind.location.id = device;
  CUmemAccessDesc access{};
  access.location = kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::size_t granule = 0;
  CU_THROW(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t more = (bytes - array.backed + granule - 1) / granule * granule;
  const CUdeviceptr end = array.address;
  CUmemGenericAllocationHandle piece;
  CU_THROW(cuMemCreate(&piece, more, &kind, 0));
  const CUresult mapped = cuMemMap(end, more, 0, piece, 0);
  CU_REPORT(cuMemRelease(piece));  // a mapping keeps the memory; without one it goes back
  CU_THROW(mapped);
  const CUresult allowed = cuMemSetAccess(end, more, &access, 1);
  if (allowed != CUDA_SUCCESS) CU_REPORT(cuMemUnmap(end, more));
  CU_THROW(allowed);
  array.backed += more;
}
