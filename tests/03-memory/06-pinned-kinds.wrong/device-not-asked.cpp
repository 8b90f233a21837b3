// Rejected with: "with unified addressing, kernels and other contexts need no flag"
// Flags out of habit: the device was not asked whether it needs them.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

unsigned flags_for(CUdevice device, const Use& use) {
  (void)device;
  unsigned flags = 0;
  if (!use.host_reads) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
