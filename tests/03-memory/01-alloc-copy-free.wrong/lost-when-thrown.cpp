// Rejected with: "each call is checked, and the memory is given back when one fails"
// Given back at the end, where a throw does not come.
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
