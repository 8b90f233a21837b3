// What the two benchmark programs share: the kernels' sizes, inputs and launches, and how a time is taken. A benchmark
// is one kernel of kernels.cu, which has the same name, arguments and launches in kernels.cl. The programs print a sum
// of each kernel's results, so that compare.py can see whether both have computed the same.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

namespace bench {

constexpr int kRuns = 5;

// An argument in device memory.
struct Buffer {
  std::vector<unsigned char> bytes;
  enum Type { f32, f64, i32 } type = f32;

  template <class T>
  static Buffer of(const std::vector<T>& values, Type type) {
    Buffer buffer{std::vector<unsigned char>(values.size() * sizeof(T)), type};
    std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
    return buffer;
  }
  template <class T>
  double sum_of() const {
    double sum = 0;
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof value);
      sum += static_cast<double>(value) * static_cast<double>(at / sizeof(T) % 7 + 1);  // the order counts, too
    }
    return sum;
  }
  double sum() const { return type == f32 ? sum_of<float>() : type == f64 ? sum_of<double>() : sum_of<int>(); }
};

using Buffers = std::vector<Buffer>;

struct Benchmark {
  const char* kernel;
  unsigned grid[2], block[2];  // blocks, threads of a block
  std::function<Buffers()> buffers;  // makes the first arguments; the last of them has the results
  std::vector<std::vector<int>> launches;  // the arguments behind them, of each launch
};

inline std::vector<float> floats(int count, float from = 0, float to = 1) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = from + (to - from) * static_cast<float>(random() % 4096) / 4096;
  return values;
}
inline Buffer input(int count, float from = 0, float to = 1) {
  return Buffer::of(floats(count, from, to), Buffer::f32);
}
inline Buffer output(int count) { return Buffer::of(std::vector<float>(static_cast<std::size_t>(count)), Buffer::f32); }
inline Buffer integers(int count, int below) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) value = static_cast<int>(random() % static_cast<unsigned>(below));
  return Buffer::of(values, Buffer::i32);
}

// Rows of a sparse matrix with 1 to 31 elements each, and a vector.
constexpr int kRows = 1 << 17;
inline Buffers sparse() {
  std::mt19937 random(1);
  std::vector<int> begin = {0}, column;
  for (int row = 0; row < kRows; ++row) {
    const unsigned count = 1 + random() % 31;
    for (unsigned i = 0; i < count; ++i) column.push_back(static_cast<int>(random() % kRows));
    begin.push_back(static_cast<int>(column.size()));
  }
  return {Buffer::of(begin, Buffer::i32), Buffer::of(column, Buffer::i32), input(static_cast<int>(column.size())),
          input(kRows), output(kRows)};
}

inline Benchmark bitonic() {
  constexpr int kCount = 1 << 17;
  Benchmark made{"bitonic_step", {kCount / 256, 1}, {256, 1}, [] { return Buffers{integers(kCount, 1 << 30)}; }, {}};
  for (int size = 2; size <= kCount; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) made.launches.push_back({stride, size});
  }
  return made;
}

constexpr int kMany = 4 << 20, kOptions = 1 << 20, kSide = 2048, kCube = 128, kMatrix = 512, kDouble = 256,
              kImage = 1024;

inline Buffers doubles() {
  const auto a = floats(kDouble * kDouble), b = floats(kDouble * kDouble, -1, 1);
  return {Buffer::of(std::vector<double>(a.begin(), a.end()), Buffer::f64),
          Buffer::of(std::vector<double>(b.begin(), b.end()), Buffer::f64),
          Buffer::of(std::vector<double>(a.size()), Buffer::f64)};
}
inline Buffers matrices() {
  return {input(kMatrix * kMatrix), input(kMatrix * kMatrix, -1, 1), output(kMatrix * kMatrix)};
}
inline Buffers large() { return {input(kMany), output(kMany)}; }
inline Buffers square() { return {input(kSide * kSide), output(kSide * kSide)}; }

// Most of their time goes to memory.
inline std::vector<Benchmark> moving() {
  return {
      {"saxpy", {kMany / 256, 1}, {256, 1}, large, {{kMany}}},
      {"stencil_2d", {kSide / 32, kSide / 8}, {32, 8}, square, {{kSide, kSide}}},
      {"stencil_3d",
       {kCube / 32, kCube / 8},
       {32, 8},
       [] { return Buffers{input(kCube * kCube * kCube), output(kCube * kCube * kCube)}; },
       {{kCube}}},
      {"sum", {1024, 1}, {256, 1}, [] { return Buffers{input(kMany), output(1024)}; }, {{kMany}}},
      {"scan_blocks", {kMany / 256, 1}, {256, 1}, large, {{kMany}}},
      bitonic(),
      {"histogram",
       {256, 1},
       {256, 1},
       [] { return Buffers{integers(kMany, 256), Buffer::of(std::vector<int>(256), Buffer::i32)}; },
       {{kMany}}},
      {"csr_product", {kRows / 128, 1}, {128, 1}, sparse, {{kRows}}},
      {"transpose", {kSide / 32, kSide / 32}, {32, 8}, square, {{kSide}}},
      {"small_launches",
       {4, 1},
       {64, 1},
       [] { return Buffers{output(256)}; },
       std::vector<std::vector<int>>(2000, {256})},
  };
}

// Most of their time goes to arithmetic.
inline std::vector<Benchmark> computing() {
  return {
      {"matmul_naive", {kMatrix / 16, kMatrix / 16}, {16, 16}, matrices, {{kMatrix}}},
      {"matmul_tiled", {kMatrix / 16, kMatrix / 16}, {16, 16}, matrices, {{kMatrix}}},
      {"matmul_double", {kDouble / 32, kDouble / 8}, {32, 8}, doubles, {{kDouble}}},
      {"option_prices",
       {kOptions / 256, 1},
       {256, 1},
       [] { return Buffers{input(kOptions, 10, 90), input(kOptions, 80, 20), output(kOptions)}; },
       {{kOptions}}},
      {"mandelbrot",
       {kImage / 32, kImage / 8},
       {32, 8},
       [] { return Buffers{Buffer::of(std::vector<int>(kImage * kImage), Buffer::i32)}; },
       {{kImage, 128}}},
      {"n_body", {4096 / 256, 1}, {256, 1}, [] { return Buffers{input(4 * 4096), output(4096)}; }, {{4096}}},
      {"softmax_rows",
       {4096, 1},
       {32, 1},
       [] { return Buffers{input(4096 * 512, -4, 4), output(4096 * 512)}; },
       {{512}}},
  };
}

inline std::vector<Benchmark> all() {
  std::vector<Benchmark> both = moving();
  for (const Benchmark& each : computing()) both.push_back(each);
  return both;
}

// One line: the kernel, its best time of kRuns runs after a first one that is not counted, and the sum of its results.
// The time is the processor's, of all threads, in seconds: other programs disturb it less than the time that passes.
template <class Run, class Result>
void measure(const char* kernel, Run run, Result result) {
  run();
  double best = INFINITY;
  for (int i = 0; i < kRuns; ++i) {
    const std::clock_t start = std::clock();
    run();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::printf("%s %.6f %.9g\n", kernel, best, result());
  std::fflush(stdout);
}

// Only the kernels that the command line names, if it does.
inline bool chosen(const Benchmark& benchmark, int count, char** names) {
  return count == 0 ||
         std::any_of(names, names + count, [&](const char* name) { return std::strcmp(name, benchmark.kernel) == 0; });
}

}  // namespace bench
