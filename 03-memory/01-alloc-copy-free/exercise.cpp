// Swap the two halves of a vector, only by choosing where copies start.
#include "common/cu.hpp"

#include <vector>

// Copies `numbers` to the device and returns them with their halves swapped: 1 2 3 4 becomes 3 4 1 2. Returns an empty
// vector for an empty one; the size is never odd. A context is current. Frees all device memory, on every path. Throws
// cu::Error if a driver call fails (CU_THROW).
std::vector<float> swap_halves(const std::vector<float>& numbers) {
  // Your code here.
  return numbers;
}
