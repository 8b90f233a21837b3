// Rejected with: "it is freed in the context that owns it, while another one is current"
// The driver happens to find the owner by the address while any context is current; without one it does not even look.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(std::size_t bytes) {
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return {new CUdeviceptr(address), [](const CUdeviceptr* memory) {
            CU_REPORT(cuMemFree(*memory));
            delete memory;
          }};
}
