// Memory with several owners, which is freed when the last one lets go, wherever that happens to be.
#include "common/cu.hpp"

#include <memory>

// Allocates `bytes` in the context that is current; *share(bytes) is the address. The memory is freed when the last
// copy of the pointer goes, in the context that owns it: whatever is current there and then, nothing included, on
// whatever thread. The stack of that thread is the same afterwards. Letting go never throws. Throws cu::Error if the
// driver refuses the allocation (CU_THROW).
std::shared_ptr<const CUdeviceptr> share(std::size_t bytes) {
  // Your code here.
  (void)bytes;
  return std::make_shared<const CUdeviceptr>(0);
}
