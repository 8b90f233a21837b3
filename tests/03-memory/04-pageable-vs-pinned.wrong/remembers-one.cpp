// Rejected with: "each of two arrays is freed with its own owner"
// The deleter frees the array that was allocated last. Of two arrays, it frees one twice and the other never.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count) {
  static void* memory = nullptr;
  CU_THROW(cuMemHostAlloc(&memory, count * sizeof(float), 0));
  return PinnedFloats(static_cast<float*>(memory), [](float*) { CU_REPORT(cuMemFreeHost(memory)); });
}
