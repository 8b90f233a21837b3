// Rejected with: "two arrays in one page are pinned and unpinned independently"
// The driver accepts any address and size. Rounding them to pages registers neighboring arrays too.
#include "common/cu.hpp"

#include <cstdint>
#include <memory>

using Pin = std::unique_ptr<void, void (*)(void*)>;

Pin pin(void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  void* page = reinterpret_cast<void*>(address / 4096 * 4096);
  const std::size_t all = (address % 4096 + bytes + 4095) / 4096 * 4096;
  const auto unregister = [](void* registered) { CU_REPORT(cuMemHostUnregister(registered)); };
  if (bytes == 0) CU_THROW(CUDA_ERROR_INVALID_VALUE);
  const CUresult result = cuMemHostRegister(page, all, 0);
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return Pin(nullptr, unregister);
  CU_THROW(result);
  return Pin(page, unregister);
}
