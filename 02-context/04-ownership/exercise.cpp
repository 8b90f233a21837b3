// Save what is worth keeping before a context goes down with all that it owns.
#include "common/cu.hpp"

// Copies `bytes` of device memory, which belong to the context `from`, into new memory of the context `heir`, then
// destroys `from`. Returns the new memory. The caller's current context may be the heir, another one or none; it is the
// same afterwards. Throws cu::Error if the driver refuses (CU_THROW).
CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  // Your code here.
  (void)bytes;
  (void)from;
  (void)heir;
  return memory;
}
