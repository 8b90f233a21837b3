// Rejected with: "it is freed in the context that owns it, while another one is current"
// The driver happens to find the owner by the address; a copy, a launch or an event there would not.
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
