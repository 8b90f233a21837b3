// Rejected with: "the memory can be used while a copy of the pointer exists"
// Frees the memory when the function returns. What the caller receives is a copy of an address that is no longer valid.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  cu::Current in(context->handle);
  cu::Memory memory(bytes);
  return std::make_shared<const CUdeviceptr>(memory.address);
}
