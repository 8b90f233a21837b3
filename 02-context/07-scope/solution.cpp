// Memory with several owners, which is freed when the last one lets go, wherever that happens to be.
#include "common/cu.hpp"

#include <memory>

// Allocates `bytes` in the context that is current; *share(bytes) is the address. The memory is freed when the last
// copy of the pointer goes, in the context that owns it: whatever is current there and then, nothing included, on
// whatever thread. The stack of that thread is the same afterwards. Letting go never throws. Throws cu::Error if the
// driver refuses the allocation (CU_THROW).
std::shared_ptr<const CUdeviceptr> share(std::size_t bytes) {
  CUcontext owner;
  CUdeviceptr address;
  CU_THROW(cuCtxGetCurrent(&owner));
  CU_THROW(cuMemAlloc(&address, bytes));
  const auto free = [owner](const CUdeviceptr* memory) {
    try {
      cu::Current in(owner);
      CU_REPORT(cuMemFree(*memory));
    } catch (const cu::Error& error) {  // the owner cannot be made current: it went first, and took the memory along
      std::fprintf(stderr, "%s\n", error.what());
    }
    delete memory;
  };
  return {new CUdeviceptr(address), free};
}
