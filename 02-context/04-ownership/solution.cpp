// Save what is worth keeping before a context goes down with all that it owns.
#include "common/cu.hpp"

// Copies `bytes` of device memory, which belong to the context `from`, into new memory of the context `heir`, then
// destroys `from`. Returns the new memory. The caller's current context may be the heir, another one or none; it is the
// same afterwards. Throws cu::Error if the driver refuses (CU_THROW).
CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir) {
  struct Pop {
    ~Pop() {
      CUcontext popped;
      CU_REPORT(cuCtxPopCurrent(&popped));
    }
  };
  CUdeviceptr saved;
  {
    CU_THROW(cuCtxPushCurrent(heir));  // whoever is current owns what is allocated
    Pop at_the_end;
    CU_THROW(cuMemAlloc(&saved, bytes));
    CU_THROW(cuMemcpyDtoD(saved, memory, bytes));
    CU_THROW(cuCtxSynchronize());  // a copy from device to device may still be under way when the call returns
  }
  CU_THROW(cuCtxDestroy(from));
  return saved;
}
