// Rejected with: "the last float is pinned"
// cuMemHostAlloc counts bytes, so this allocates only a quarter of the floats.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count) {
  void* memory = nullptr;
  CU_THROW(cuMemHostAlloc(&memory, count, 0));
  return PinnedFloats(static_cast<float*>(memory), [](float* floats) { CU_REPORT(cuMemFreeHost(floats)); });
}
