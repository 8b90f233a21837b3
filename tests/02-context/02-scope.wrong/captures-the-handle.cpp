// Rejected with: "the memory keeps its context alive"
// Captures the context's handle, which does not own it. The context is destroyed before the memory is freed.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  const CUcontext handle = context->handle;
  cu::Current in(handle);
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [handle](const CUdeviceptr* memory) {
            CUcontext popped;
            CU_REPORT(cuCtxPushCurrent(handle));
            CU_REPORT(cuMemFree(*memory));
            CU_REPORT(cuCtxPopCurrent(&popped));
            delete memory;
          }};
}
