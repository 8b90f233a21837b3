// Rejected with: "what is registered already stays so, also when the Pin ends"
// Somebody else may have pinned the array; that is no reason to fail.
#include "common/cu.hpp"

#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  CU_THROW(cuMemHostRegister(memory, bytes, 0));
  return Pin(memory, [](void* registered) { CU_REPORT(cuMemHostUnregister(registered)); });
}
