// Rejected with: "a device that does not exist is thrown"
// If the driver does not answer, zero is not what it said.
#include "common/cu.hpp"

struct Use {
  bool host_reads, kernels, other_contexts;
};

unsigned flags_for(CUdevice device, const Use& use) {
  int unified = 0;
  (void)cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, device);
  unsigned flags = 0;
  if (!use.host_reads) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels && !unified) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts && !unified) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
