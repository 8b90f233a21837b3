// Swap the two halves of a vector by what copies alone can do: start and end where you choose.
#include "common/cu.hpp"

#include <vector>

// Takes `numbers` to the device and returns them with their halves swapped: 1 2 3 4 becomes 3 4 1 2. An empty vector
// comes back empty; an odd size does not occur. A context is current. Device memory that is taken is given back. Throws
// cu::Error if the driver refuses (CU_THROW).
std::vector<float> swap_halves(const std::vector<float>& numbers) {
  // Your code here.
  return numbers;
}
