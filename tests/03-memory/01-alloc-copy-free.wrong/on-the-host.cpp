// Rejected with: "the device does it: without a context, what the driver refuses is thrown"
// The right numbers, from the wrong place: no byte has been on the device.
#include <algorithm>
#include <vector>

std::vector<float> swap_halves(const std::vector<float>& numbers) {
  std::vector<float> swapped = numbers;
  std::rotate(swapped.begin(), swapped.begin() + swapped.size() / 2, swapped.end());
  return swapped;
}
