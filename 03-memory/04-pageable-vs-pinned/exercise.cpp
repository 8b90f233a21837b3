// Allocate an array in pinned memory that frees itself.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

// Returns `count` floats in pinned memory, which are freed when their owner is destroyed. A context is current. Throws
// cu::Error if the driver cannot allocate the memory (CU_THROW).
PinnedFloats pinned_floats(std::size_t count) {
  // Your code here.
  return PinnedFloats(new float[count], [](float* floats) { delete[] floats; });
}
