// Rejected with: "a hundred bytes become a whole piece, and it can be used"
// What is mapped may not yet be touched: nobody has been given access.
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
  std::size_t granule = 0;
  CU_THROW(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t more = (bytes - array.backed + granule - 1) / granule * granule;
  const CUdeviceptr end = array.address + array.backed;
  CUmemGenericAllocationHandle piece;
  CU_THROW(cuMemCreate(&piece, more, &kind, 0));
  const CUresult mapped = cuMemMap(end, more, 0, piece, 0);
  CU_REPORT(cuMemRelease(piece));  // a mapping keeps the memory; without one it goes back
  CU_THROW(mapped);
  array.backed += more;
}
