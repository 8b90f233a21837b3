// Rejected with: "two arrays are sent together only if gathering both takes less than a latency"
// Decides for each array by itself, and forgets that the first array of a copy has to be gathered, too.
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
  bool small_before = false;
  for (const std::size_t size : bytes) {
    const bool small = size / speeds.gathering < speeds.latency;
    if (small && small_before && total + size <= buffer) {
      ++counts.back(), total += size;
    } else {
      counts.push_back(1), total = size;
    }
    small_before = small;
  }
  return counts;
}
