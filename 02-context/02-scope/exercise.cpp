// Device memory with several owners, which also keep its context alive.
#include "common/cu.hpp"

#include <memory>

// Allocates `bytes` bytes in `context`, whichever context is current. *share(...) is the address. The caller can copy
// the returned pointer. When the last copy is destroyed, on whatever thread, the memory is freed with its context
// current. Until then the context exists, even if it has no other owner. Neither the function nor the deleter changes
// the calling thread's context stack. A failed allocation throws cu::Error (CU_THROW). The deleter must not throw.
std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  // Your code here.
  (void)context;
  (void)bytes;
  return std::make_shared<const CUdeviceptr>(0);
}
