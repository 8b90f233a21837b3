// Saves a result from a context that is about to be destroyed.
#include "common/cu.hpp"

// Copies `bytes` bytes of device memory, which belong to the context `from`, to new memory that belongs to the context
// `heir`, and then destroys `from`. Returns the new memory. Work that was submitted in `from` may still be writing to
// the memory; the copy contains its results. The caller's current context can be `heir`, another context or none, and
// is the same afterwards. Throws cu::Error if a driver call fails (CU_THROW). In that case, `from` still exists and no
// memory is leaked.
CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  // Your code here.
  (void)bytes;
  (void)from;
  (void)heir;
  return memory;
}
