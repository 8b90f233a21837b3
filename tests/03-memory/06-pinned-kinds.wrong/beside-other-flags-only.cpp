// Rejected with: "without it, they do"
// Where there is nothing to map and nobody to share with, it forgets what the host does.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

unsigned int flags_for(CUdevice device, const Use& use) {
  int unified = 0;
  CU_THROW(cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device));
  const unsigned int combined = use.host_reads ? 0 : CU_MEMHOSTALLOC_WRITECOMBINED;
  if (unified) return combined;
  if (use.kernels && use.other_contexts) return CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE | combined;
  if (use.kernels) return CU_MEMHOSTALLOC_DEVICEMAP | combined;
  if (use.other_contexts) return CU_MEMHOSTALLOC_PORTABLE | combined;
  return 0;
}
