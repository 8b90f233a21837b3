// Checks the learner's plan() (exercise of 03-memory/04-pageable-vs-pinned).
#include "tests/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

struct Speeds {
  double latency, bandwidth, gathering;
};

using Sizes = std::vector<std::size_t>;

Sizes plan(const Sizes& bytes, const Speeds& speeds, std::size_t buffer);

namespace {

constexpr Speeds kH200{8e-6, 56e9, 10e9};  // gathering 80,000 bytes takes as long as the latency of one copy
constexpr std::size_t kBuffer = 4 << 20;

// Does every copy fit, and does the plan send each array once?
bool is_possible(const Sizes& counts, const Sizes& bytes, std::size_t buffer) {
  std::size_t at = 0;
  for (const std::size_t count : counts) {
    if (count == 0 || at + count > bytes.size()) return false;
    const std::size_t total = std::accumulate(bytes.begin() + at, bytes.begin() + at + count, std::size_t{0});
    if (count > 1 && total > buffer) return false;
    at += count;
  }
  return at == bytes.size();
}

double seconds(const Sizes& counts, const Sizes& bytes, const Speeds& speeds) {
  double time = 0;
  std::size_t at = 0;
  for (const std::size_t count : counts) {
    const std::size_t total = std::accumulate(bytes.begin() + at, bytes.begin() + at + count, std::size_t{0});
    time += speeds.latency + total / speeds.bandwidth + (count > 1 ? total / speeds.gathering : 0);
    at += count;
  }
  return time;
}

// The least time of all plans: each bit says whether a copy ends after an array.
double least_seconds(const Sizes& bytes, const Speeds& speeds, std::size_t buffer) {
  double least = 1e9;
  for (unsigned ends = 0; ends < 1u << (bytes.size() - 1); ++ends) {
    Sizes counts{1};
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
      if (ends >> i & 1) {
        counts.push_back(1);
      } else {
        ++counts.back();
      }
    }
    if (is_possible(counts, bytes, buffer)) least = std::min(least, seconds(counts, bytes, speeds));
  }
  return least;
}

}  // namespace

TEST_CASE("without arrays, there is no copy") { CHECK(plan({}, kH200, kBuffer).empty()); }

TEST_CASE("a thousand arrays of 4 KiB are sent together") {
  CHECK(plan(Sizes(1000, 4096), kH200, kBuffer) == Sizes{1000});
}

TEST_CASE("two large arrays are sent alone") { CHECK(plan({1 << 20, 1 << 20}, kH200, kBuffer) == Sizes{1, 1}); }

TEST_CASE("two arrays are sent together only if gathering both takes less than a latency") {
  CHECK(plan({39'000, 39'000}, kH200, kBuffer) == Sizes{2});
  CHECK(plan({41'000, 41'000}, kH200, kBuffer) == Sizes{1, 1});
}

TEST_CASE("a large array between small ones is sent alone") {
  CHECK(plan({1000, 1000, 3 << 20, 1000, 1000}, kH200, kBuffer) == Sizes{2, 1, 2});
}

TEST_CASE("what is sent together fits in the buffer") {
  const Sizes bytes(100, 1000);
  const Sizes counts = plan(bytes, kH200, 32'000);
  CHECK(is_possible(counts, bytes, 32'000));
  CHECK(counts.size() == 4);
}

TEST_CASE("an array that is larger than the buffer is sent alone") {
  CHECK(plan({1000, 64'000, 1000}, kH200, 32'000) == Sizes{1, 1, 1});
}

TEST_CASE("no other plan takes less time") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Sizes bytes(1 + random() % 11);
    for (std::size_t& size : bytes) size = std::size_t{1000} << random() % 8;
    const Sizes counts = plan(bytes, kH200, 150'000);
    CAPTURE(bytes, counts);
    REQUIRE(is_possible(counts, bytes, 150'000));
    REQUIRE(seconds(counts, bytes, kH200) <= least_seconds(bytes, kH200, 150'000) * (1 + 1e-9));
  }
}
