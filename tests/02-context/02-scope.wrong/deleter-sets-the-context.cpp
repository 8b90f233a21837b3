// Rejected with: "the context stack does not change"
// The deleter replaces the top of the thread's stack instead of pushing, and leaves it replaced.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  cu::Current in(context->handle);
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [context](const CUdeviceptr* memory) {
            CU_REPORT(cuCtxSetCurrent(context->handle));
            CU_REPORT(cuMemFree(*memory));
            delete memory;
          }};
}
