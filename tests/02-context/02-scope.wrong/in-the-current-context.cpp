// Rejected with: "the memory belongs to the given context, whichever is current"
// Makes the context current only when it frees the memory, and not when it allocates it.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [context](const CUdeviceptr* memory) {
            CUcontext popped;
            CU_REPORT(cuCtxPushCurrent(context->handle));
            CU_REPORT(cuMemFree(*memory));
            CU_REPORT(cuCtxPopCurrent(&popped));
            delete memory;
          }};
}
