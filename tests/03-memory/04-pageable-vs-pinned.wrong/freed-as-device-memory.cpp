// Rejected with: "the memory is freed when its owner is destroyed"
// cuMemFree is for device memory. It returns an error for pinned memory, which the deleter ignores.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count) {
  void* memory = nullptr;
  CU_THROW(cuMemHostAlloc(&memory, count * sizeof(float), 0));
  return PinnedFloats(static_cast<float*>(memory),
                      [](float* floats) { cuMemFree(reinterpret_cast<CUdeviceptr>(floats)); });
}
