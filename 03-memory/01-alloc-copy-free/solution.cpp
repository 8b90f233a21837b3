// Swap the two halves of a vector by what copies alone can do: start and end where you choose.
#include "common/cu.hpp"

#include <vector>

// Takes `numbers` to the device and returns them with their halves swapped: 1 2 3 4 becomes 3 4 1 2. An empty vector
// comes back empty; an odd size does not occur. A context is current. Device memory that is taken is given back. Throws
// cu::Error if the driver refuses (CU_THROW).
std::vector<float> swap_halves(const std::vector<float>& numbers) {
  if (numbers.empty()) return numbers;  // cuMemAlloc refuses zero bytes
  const std::size_t half = numbers.size() / 2, half_bytes = half * sizeof(float);
  std::vector<float> swapped(numbers.size());
  cu::Memory memory(2 * half_bytes);  // cuMemAlloc here, cuMemFree on every path out
  const CUdeviceptr address = memory.address;
  CU_THROW(cuMemcpyHtoD(address, numbers.data(), 2 * half_bytes));
  CU_THROW(cuMemcpyDtoH(swapped.data(), address + half_bytes, half_bytes));  // a CUdeviceptr counts bytes,
  CU_THROW(cuMemcpyDtoH(swapped.data() + half, address, half_bytes));        // a float* counts floats
  return swapped;
}
