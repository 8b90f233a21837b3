// Let an array grow in place.
#include "common/cu.hpp"

// Addresses from `address` on: `reserved` bytes are reserved, of which the first `backed` bytes have memory that the
// device may read and write.
struct Growing {
  CUdeviceptr address;
  std::size_t reserved, backed;
};

// Makes backed at least `bytes`, a multiple of the minimum granularity, in one piece behind what is there; what is
// there stays as it is. If there is enough already, nothing happens. Only the mapping keeps the memory: when somebody
// unmaps it, it is the device's again. Throws cu::Error if the driver refuses (CU_THROW), and then no memory has been
// taken.
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
  const CUdeviceptr end = array.address + array.backed;
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
