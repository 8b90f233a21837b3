// Rejected with: "the first float is pinned"
// Writing to memory makes its pages exist, but the operating system may still move them: they are not pinned.
#include "common/cu.hpp"

#include <algorithm>
#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count) {
  PinnedFloats floats(new float[count], [](float* array) { delete[] array; });
  std::fill_n(floats.get(), count, 0.0f);
  return floats;
}
