// Rejected with: "it is freed once, when the last one lets go"
// The pointer's own deleter frees eight bytes of the host's memory, and nothing of the device's.
#include "common/cu.hpp"

#include <memory>

std::shared_ptr<const CUdeviceptr> share(std::size_t bytes) {
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, bytes));
  return std::make_shared<const CUdeviceptr>(address);
}
