// Rejected with: "without unified addressing, kernels need mapped and other contexts portable memory"
// If no other flag is needed, it forgets that write-combined memory may be faster.
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
  const bool faster = !use.host_reads && measured.write_combined > 1.05 * measured.plain;
  const unsigned combined = faster ? CU_MEMHOSTALLOC_WRITECOMBINED : 0;
  if (unified) return combined;
  if (use.kernels && use.other_contexts) return CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE | combined;
  if (use.kernels) return CU_MEMHOSTALLOC_DEVICEMAP | combined;
  if (use.other_contexts) return CU_MEMHOSTALLOC_PORTABLE | combined;
  return 0;
}
