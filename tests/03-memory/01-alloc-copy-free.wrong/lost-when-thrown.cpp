// Rejected with: "if a driver call fails, the function throws and frees its memory"
// It frees the memory in its last line, which is not reached when a call throws.
#include "common/cu.hpp"

#include <vector>

std::vector<float> swap_halves(const std::vector<float>& numbers) {
  if (numbers.empty()) return numbers;
  const std::size_t half = numbers.size() / 2, half_bytes = half * sizeof(float);
  std::vector<float> swapped(numbers.size());
  CUdeviceptr address;
  CU_THROW(cuMemAlloc(&address, 2 * half_bytes));
  CU_THROW(cuMemcpyHtoD(address, numbers.data(), 2 * half_bytes));
  CU_THROW(cuMemcpyDtoH(swapped.data(), address + half_bytes, half_bytes));
  CU_THROW(cuMemcpyDtoH(swapped.data() + half, address, half_bytes));
  CU_THROW(cuMemFree(address));
  return swapped;
}
