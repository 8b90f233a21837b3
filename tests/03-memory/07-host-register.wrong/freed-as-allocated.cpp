// Rejected with: "when it ends, the array is pageable again"
// cuMemFreeHost frees what cuMemHostAlloc gave; this memory is not its own.
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
