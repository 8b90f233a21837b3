// Make an array of page-locked memory that gives itself back.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

// Returns `count` floats in page-locked memory. They are freed when the pointer that owns them ends. A context is
// current. Throws cu::Error if the driver refuses (CU_THROW).
PinnedFloats pinned_floats(std::size_t count) {
  void* memory = nullptr;
  CU_THROW(cuMemHostAlloc(&memory, count * sizeof(float), 0));
  return PinnedFloats(static_cast<float*>(memory), [](float* floats) { CU_REPORT(cuMemFreeHost(floats)); });
}
