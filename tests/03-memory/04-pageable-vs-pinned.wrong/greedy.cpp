// Rejected with: "no other plan takes less time"
// Extends a copy as long as the next array makes it cheaper. A copy that grows later may need an array that this one
// took.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

struct Speeds {
  double latency, bandwidth, gathering;
};

std::vector<std::size_t> plan(const std::vector<std::size_t>& bytes, const Speeds& speeds, std::size_t buffer) {
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  for (const std::size_t size : bytes) {
    const std::size_t gathered = counts.empty() ? 0 : (counts.back() == 1 ? total : 0) + size;
    if (!counts.empty() && total + size <= buffer && gathered / speeds.gathering < speeds.latency) {
      ++counts.back(), total += size;
    } else {
      counts.push_back(1), total = size;
    }
  }
  return counts;
}
