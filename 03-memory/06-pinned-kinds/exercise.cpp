// Choose the flags of page-locked memory.
#include "common/cu.hpp"

// What a buffer is for. The host writes to it in any case.
struct Use {
  bool host_reads;      // the host reads from it, too
  bool kernels;         // kernels use it directly
  bool other_contexts;  // contexts other than the one that allocates it copy from and to it
};

// The flags for cuMemHostAlloc: those that are needed or help, and no other. Mapped and portable are needed only where
// the device has no unified addressing; with it, all page-locked memory is both. Throws cu::Error if the driver refuses
// to tell (CU_THROW).
unsigned flags_for(CUdevice device, const Use& use) {
  // Your code here.
  (void)device, (void)use;
  return 0;
}
