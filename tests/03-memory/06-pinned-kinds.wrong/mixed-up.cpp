// Rejected with: "without it, they do"
// Portable is for other contexts, mapped is for kernels, not the other way round.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

unsigned flags_for(CUdevice device, const Use& use) {
  int unified = 0;
  CU_THROW(cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device));
  unsigned flags = 0;
  if (!use.host_reads) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels && !unified) flags |= CU_MEMHOSTALLOC_PORTABLE;
  if (use.other_contexts && !unified) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  return flags;
}
