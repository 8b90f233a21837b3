// Rejected with: "the memory is freed with its own context current"
// Frees the memory in whichever context is current. Drivers that find the owner of an address accept it, but the
// exercise asks for the right context.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(const std::shared_ptr<cu::Context>& context, std::size_t bytes) {
  cu::Current in(context->handle);
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [context](const CUdeviceptr* memory) {
            CU_REPORT(cuMemFree(*memory));
            delete memory;
          }};
}
