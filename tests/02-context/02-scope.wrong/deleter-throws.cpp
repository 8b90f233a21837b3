// Rejected with: "the deleter does not throw, even if the context cannot be made current"
// The constructor of cu::Current throws inside the deleter if the context cannot be made current.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  cu::Current in(context->handle);
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [context](const CUdeviceptr* memory) {
            cu::Current in_its_context(context->handle);
            CU_REPORT(cuMemFree(*memory));
            delete memory;
          }};
}
