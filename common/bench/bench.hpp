// What the two benchmark programs share: the sizes, the inputs, the check of the results, and how a time is taken.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace bench {

constexpr int kElements = 16 << 20;  // vector add, sum
constexpr int kSide = 512;           // matrices
constexpr int kBlocks = 1024;        // of the sum
constexpr int kRuns = 5;

// Small whole numbers: every sum below is exact in float, whatever the order.
inline std::vector<float> numbers(int count, int seed) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>((i * 7 + seed) % 5 - 2);
  return values;
}

// One line: the kernel and its best time of kRuns runs after a first one that is not counted, in seconds.
template <class Run>
void measure(const char* kernel, Run run) {
  run();
  double best = INFINITY;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%s %.6f\n", kernel, best);
}

inline int wrong(const char* kernel) {
  std::fprintf(stderr, "%s: wrong result\n", kernel);
  return 1;
}

inline bool is_sum(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c[i] != a[i] + b[i]) return false;
  return true;
}

// Looks at every 37th element: the whole product would take the host longer than the kernels.
inline bool is_product(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  for (int i = 0; i < kSide * kSide; i += 37) {
    float sum = 0;
    for (int k = 0; k < kSide; ++k) sum += a[i / kSide * kSide + k] * b[k * kSide + i % kSide];
    if (c[i] != sum) return false;
  }
  return true;
}

inline bool adds_up(const std::vector<float>& in, const std::vector<float>& partial) {
  double expected = 0, got = 0;
  for (float x : in) expected += x;
  for (float x : partial) got += x;
  return expected == got;
}

}  // namespace bench
