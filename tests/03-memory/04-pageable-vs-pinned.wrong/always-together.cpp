// Rejected with: "two large arrays are sent alone"
// Fills the buffer as long as there is room, and forgets that gathering takes time.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

struct Speeds {
  double latency, bandwidth, gathering;
};

std::vector<std::size_t> plan(const std::vector<std::size_t>& bytes, const Speeds& speeds, std::size_t buffer) {
  (void)speeds;
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  for (const std::size_t size : bytes) {
    if (!counts.empty() && total + size <= buffer) {
      ++counts.back(), total += size;
    } else {
      counts.push_back(1), total = size;
    }
  }
  return counts;
}
