// Plans copies of many small arrays: which of them to gather in a pinned buffer and send together.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

// What was measured on a machine.
struct Speeds {
  double latency;    // seconds that each copy to the device takes, whatever its size
  double bandwidth;  // bytes per second of a copy to the device
  double gathering;  // bytes per second at which the host copies an array into the pinned buffer
};

// Returns how many arrays each copy sends, in order: {1, 3} sends the first array alone and the next three together. A
// copy takes latency + bytes / bandwidth. A copy of several arrays needs them in a pinned buffer of `buffer` bytes, so
// each of these arrays, the first one too, also takes bytes / gathering. An array that is sent alone is pinned already
// and is not gathered; it may be larger than the buffer. The plan is one of those that take the least time in total.
std::vector<std::size_t> plan(const std::vector<std::size_t>& bytes, const Speeds& speeds, std::size_t buffer) {
  // best[n] is the least time for the first n arrays, and last[n] the number of arrays in the last copy of such a plan.
  std::vector<double> best(bytes.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last(bytes.size() + 1, 0);
  best[0] = 0;
  for (std::size_t end = 1; end <= bytes.size(); ++end) {
    std::size_t total = 0;
    for (std::size_t count = 1; count <= end; ++count) {
      total += bytes[end - count];
      if (count > 1 && total > buffer) break;
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
