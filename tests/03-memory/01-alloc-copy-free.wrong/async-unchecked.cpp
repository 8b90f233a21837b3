// Rejected with: "each call is checked, and the memory is given back when one fails"
// Only the wait is checked: a copy that the driver has refused leaves nothing to wait for, and zeros come back.
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
