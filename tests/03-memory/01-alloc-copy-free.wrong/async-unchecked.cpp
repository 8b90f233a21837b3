// Rejected with: "if a driver call fails, the function throws and frees its memory"
// It checks only the wait. If the driver rejects a copy, there is nothing to wait for, and the result is all zeros.
#include "common/cu.hpp"

#include <vector>

std::vector<float> swap_halves(const std::vector<float>& numbers) {
  if (numbers.empty()) return numbers;
  const std::size_t half = numbers.size() / 2, half_bytes = half * sizeof(float);
  std::vector<float> swapped(numbers.size());
  cu::Memory memory(2 * half_bytes);
  cuMemcpyHtoDAsync(memory.address, numbers.data(), 2 * half_bytes, nullptr);
  cuMemcpyDtoHAsync(swapped.data(), memory.address + half_bytes, half_bytes, nullptr);
  cuMemcpyDtoHAsync(swapped.data() + half, memory.address, half_bytes, nullptr);
  CU_THROW(cuCtxSynchronize());
  return swapped;
}
