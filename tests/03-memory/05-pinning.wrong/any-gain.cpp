// Rejected with: "a buffer is not write-combined if the measurement shows no gain"
// A difference of less than 5 % is noise.
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
  if (!use.host_reads && measured.write_combined > measured.plain) flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
  if (use.kernels && !unified) flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  if (use.other_contexts && !unified) flags |= CU_MEMHOSTALLOC_PORTABLE;
  return flags;
}
