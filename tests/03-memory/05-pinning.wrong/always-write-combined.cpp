// Rejected with: "a buffer that the host reads is never write-combined"
// It looks only at the speed of copies. The host reads write-combined memory without its caches.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

struct Measured {
  double plain, write_combined;
};

unsigned flags_for(CUdevice device, const Use& use, const Measured& measured) {
  int unified = 0;
  CU_THROW(cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device));
  unsigned flags = 0;
  if (measured.write_combined > 1.05 * measured.plain) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels && !unified) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts && !unified) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
