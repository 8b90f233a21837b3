// Rejected with: "the array is pageable again after the Pin was destroyed"
// cuMemFreeHost is for memory from cuMemHostAlloc; this memory was registered.
#include "common/cu.hpp"

#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  const CUresult result = cuMemHostRegister(memory, bytes, 0);
  const auto unregister = [](void* registered) { (void)cuMemFreeHost(registered); };
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return Pin(nullptr, unregister);
  CU_THROW(result);
  return Pin(memory, unregister);
}
