// Rejected with: "a buffer that the host reads is not"
// Write-combined memory is for writing: reading it goes past every cache.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

unsigned flags_for(CUdevice device, const Use& use) {
  int unified = 0;
  CU_THROW(cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device));
  unsigned flags = 0;
  flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels && !unified) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts && !unified) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
