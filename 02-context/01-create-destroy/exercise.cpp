// Ask how much memory is free on a device. The driver answers only a thread that has a context.
#include "common/cu.hpp"

// Returns the free memory of `device` in bytes. The caller may have a context or none; afterwards its current context
// is what it was before, and nothing of ours is left. Throws cu::Error if the driver refuses (CU_THROW).
std::size_t free_memory(CUdevice device) {
  // Your code here.
  (void)device;
  return 0;
}
