// Swap the two halves of a vector, only by choosing where copies start.
#include "common/cu.hpp"

#include <vector>

// Copies `numbers` to the device and returns them with their halves swapped: 1 2 3 4 becomes 3 4 1 2. Returns an empty
// vector for an empty one; the size is never odd. A context is current. Frees all device memory, on every path. Throws
// cu::Error if a driver call fails (CU_THROW).
std::vector<float> swap_halves(const std::vector<float>& numbers) {
  if (numbers.empty()) return numbers;  // cuMemAlloc rejects a size of 0
  const std::size_t half = numbers.size() / 2, half_bytes = half * sizeof(float);
  const cu::Memory memory(2 * half_bytes);
  std::vector<float> swapped(numbers.size());
  CU_THROW(cuMemcpyHtoD(memory.address, numbers.data(), 2 * half_bytes));
  CU_THROW(cuMemcpyDtoH(swapped.data(), memory.address + half_bytes, half_bytes));  // a CUdeviceptr counts bytes,
  CU_THROW(cuMemcpyDtoH(swapped.data() + half, memory.address, half_bytes));        // a float* counts floats
  return swapped;
}
