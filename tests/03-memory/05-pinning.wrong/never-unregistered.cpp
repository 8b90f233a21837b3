// Rejected with: "the array is pageable again after the Pin was destroyed"
// The array will be freed while its pages are locked and the driver still lists it as registered.
#include "common/cu.hpp"

#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  const CUresult result = cuMemHostRegister(memory, bytes, 0);
  const auto nothing = [](void*) {};
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return Pin(nullptr, nothing);
  CU_THROW(result);
  return Pin(memory, nothing);
}
