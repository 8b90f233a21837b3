// Rejected with: "an array that was already registered stays registered"
// It unregisters an array that other code has registered and still relies on.
#include "common/cu.hpp"

#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  const CUresult result = cuMemHostRegister(memory, bytes, 0);
  if (result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) CU_THROW(result);
  return Pin(memory, [](void* registered) { CU_REPORT(cuMemHostUnregister(registered)); });
}
