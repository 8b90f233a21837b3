// Allocate an array in pinned memory that frees itself.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

// Returns `count` floats in pinned memory, which are freed when their owner is destroyed. A context is current. Throws
// cu::Error if the driver cannot allocate the memory (CU_THROW).
PinnedFloats pinned_floats(std::size_t count) {
  void* memory = nullptr;
  CU_THROW(cuMemHostAlloc(&memory, count * sizeof(float), 0));
  return PinnedFloats(static_cast<float*>(memory), [](float* floats) { CU_REPORT(cuMemFreeHost(floats)); });
}
