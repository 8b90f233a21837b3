// Rejected with: "with unified addressing, kernels and other contexts need no flag"
// It sets flags out of habit, without asking whether the device needs them.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

struct Measured {
  double plain, write_combined;
};

unsigned flags_for(CUdevice device, const Use& use, const Measured& measured) {
  (void)device;
  unsigned flags = 0;
  if (!use.host_reads && measured.write_combined > 1.05 * measured.plain) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
