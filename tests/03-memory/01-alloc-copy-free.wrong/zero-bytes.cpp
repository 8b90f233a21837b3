// Rejected with: "for an empty vector, the result is empty"
// malloc(0) is allowed; cuMemAlloc rejects a size of 0.
#include "common/cu.hpp"

#include <vector>

std::vector<float> swap_halves(const std::vector<float>& numbers) {
  const std::size_t half = numbers.size() / 2, half_bytes = half * sizeof(float);
  std::vector<float> swapped(numbers.size());
  CUdeviceptr memory;
  CU_THROW(cuMemAlloc(&memory, 2 * half_bytes));
  CU_THROW(cuMemcpyHtoD(memory, numbers.data(), 2 * half_bytes));
  CU_THROW(cuMemcpyDtoH(swapped.data(), memory + half_bytes, half_bytes));
  CU_THROW(cuMemcpyDtoH(swapped.data() + half, memory, half_bytes));
  CU_THROW(cuMemFree(memory));
  return swapped;
}
