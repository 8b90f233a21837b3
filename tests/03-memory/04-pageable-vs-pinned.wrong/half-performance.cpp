// Rejected with: "a thousand arrays of 4 KiB are sent together"
// Compares each array with the half-performance size, as if the question were how fast the copy is.
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
    if (!counts.empty() && total + size <= buffer && total < speeds.latency * speeds.bandwidth) {
      ++counts.back(), total += size;
    } else {
      counts.push_back(1), total = size;
    }
  }
  return counts;
}
