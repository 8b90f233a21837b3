// Rejected with: "every error except an array that is already registered is thrown"
// It throws for one error only. After any other error, the Pin unregisters an array that was never registered.
#include "common/cu.hpp"

#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  const auto unregister = [](void* registered) { CU_REPORT(cuMemHostUnregister(registered)); };
  const CUresult result = cuMemHostRegister(memory, bytes, 0);
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return Pin(nullptr, unregister);
  if (result == CUDA_ERROR_INVALID_VALUE) CU_THROW(result);
  return Pin(memory, unregister);
}
