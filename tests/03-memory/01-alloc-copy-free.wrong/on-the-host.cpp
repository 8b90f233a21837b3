// Rejected with: "without a context, the function throws"
// The numbers are right, but they were never on the device.
#include <algorithm>
#include <vector>

std::vector<float> swap_halves(const std::vector<float>& numbers) {
  std::vector<float> swapped = numbers;
  std::rotate(swapped.begin(), swapped.begin() + swapped.size() / 2, swapped.end());
  return swapped;
}
