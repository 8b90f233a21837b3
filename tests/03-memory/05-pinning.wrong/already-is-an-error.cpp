// Rejected with: "an array that was already registered stays registered"
// It fails if other code has already pinned the array.
#include "common/cu.hpp"

#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  CU_THROW(cuMemHostRegister(memory, bytes, 0));
  return Pin(memory, [](void* registered) { CU_REPORT(cuMemHostUnregister(registered)); });
}
