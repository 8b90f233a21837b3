// Pin an array of somebody else's for as long as it is needed.
#include "common/cu.hpp"

#include <memory>

// Unregisters when it ends, if there is something to unregister.
using Pin = std::unique_ptr<void, void (*)(void*)>;

// Pins `bytes` bytes at `memory` until the Pin ends. If they are registered already, somebody else has done so and will
// undo it: then the Pin is empty and does nothing. A context is current. Throws cu::Error if the driver refuses for
// another reason (CU_THROW).
Pin pin(void* memory, std::size_t bytes) {
  const auto unregister = [](void* registered) { CU_REPORT(cuMemHostUnregister(registered)); };
  const CUresult result = cuMemHostRegister(memory, bytes, 0);
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return Pin(nullptr, unregister);
  CU_THROW(result);
  return Pin(memory, unregister);
}
