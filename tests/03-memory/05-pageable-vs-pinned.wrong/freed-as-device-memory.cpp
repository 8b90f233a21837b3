// Rejected with: "they are freed when their owner ends"
// Each allocation has its own way back: cuMemFree does not know pinned memory, and says so to nobody who listens.
#include "common/cu.hpp"

#include <memory>

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned_floats(std::size_t count) {
  void* memory = nullptr;
  CU_THROW(cuMemHostAlloc(&memory, count * sizeof(float), 0));
  return PinnedFloats(static_cast<float*>(memory),
                      [](float* floats) { cuMemFree(reinterpret_cast<CUdeviceptr>(floats)); });
}
