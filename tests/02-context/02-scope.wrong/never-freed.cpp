// Rejected with: "the memory is freed once, when the last copy is destroyed"
// Uses the default deleter, which frees eight bytes of host memory and no device memory.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  cu::Current in(context->handle);
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return std::make_shared<const CUdeviceptr>(address);
}
