// What the two benchmark programs share: the kernels' sizes, inputs and launches, and how a time is taken. A benchmark
// is one kernel of kernels.cu, which has the same name, arguments and launches in kernels.cl. The programs print a sum
// of each kernel's results, so that compare.py can see whether both have computed the same.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
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

struct Benchmark {
  const char* kernel;
  unsigned grid[2], block[2];  // blocks, threads of a block
  std::vector<Buffer> buffers;  // the first arguments; the last of them has the results
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

// Rows of a sparse matrix with 1 to 31 elements each.
inline Benchmark sparse() {
  constexpr int kRows = 1 << 17;
  std::mt19937 random(1);
  std::vector<int> begin = {0}, column;
  for (int row = 0; row < kRows; ++row) {
    const unsigned count = 1 + random() % 31;
    for (unsigned i = 0; i < count; ++i) column.push_back(static_cast<int>(random() % kRows));
    begin.push_back(static_cast<int>(column.size()));
  }
  return {"csr_product",
          {kRows / 128, 1},
          {128, 1},
          {Buffer::of(begin, Buffer::i32), Buffer::of(column, Buffer::i32), input(static_cast<int>(column.size())),
           input(kRows), output(kRows)},
          {{kRows}}};
}

inline Benchmark bitonic() {
  constexpr int kCount = 1 << 17;
  Benchmark made{"bitonic_step", {kCount / 256, 1}, {256, 1}, {integers(kCount, 1 << 30)}, {}};
  for (int size = 2; size <= kCount; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) made.launches.push_back({stride, size});
  }
  return made;
}

inline Benchmark doubles() {
  constexpr int kSide = 256;
  const auto a = floats(kSide * kSide), b = floats(kSide * kSide, -1, 1);
  return {"matmul_double",
          {kSide / 32, kSide / 8},
          {32, 8},
          {Buffer::of(std::vector<double>(a.begin(), a.end()), Buffer::f64),
           Buffer::of(std::vector<double>(b.begin(), b.end()), Buffer::f64),
           Buffer::of(std::vector<double>(a.size()), Buffer::f64)},
          {{kSide}}};
}

constexpr int kMany = 4 << 20, kOptions = 1 << 20, kSide = 2048, kCube = 128, kMatrix = 512, kImage = 1024;

// Most of their time goes to memory.
inline std::vector<Benchmark> moving() {
  const Buffer cube = input(kCube * kCube * kCube);
  const Buffer bins = Buffer::of(std::vector<int>(256), Buffer::i32);
  return {
      {"saxpy", {kMany / 256, 1}, {256, 1}, {input(kMany), output(kMany)}, {{kMany}}},
      {"stencil_2d", {kSide / 32, kSide / 8}, {32, 8}, {input(kSide * kSide), output(kSide * kSide)}, {{kSide, kSide}}},
      {"stencil_3d", {kCube / 32, kCube / 8}, {32, 8}, {cube, output(kCube * kCube * kCube)}, {{kCube}}},
      {"sum", {1024, 1}, {256, 1}, {input(kMany), output(1024)}, {{kMany}}},
      {"scan_blocks", {kMany / 256, 1}, {256, 1}, {input(kMany), output(kMany)}, {{kMany}}},
      bitonic(),
      {"histogram", {256, 1}, {256, 1}, {integers(kMany, 256), bins}, {{kMany}}},
      sparse(),
      {"transpose", {kSide / 32, kSide / 32}, {32, 8}, {input(kSide * kSide), output(kSide * kSide)}, {{kSide}}},
      {"small_launches", {4, 1}, {64, 1}, {output(256)}, std::vector<std::vector<int>>(2000, {256})},
  };
}

// Most of their time goes to arithmetic.
inline std::vector<Benchmark> computing() {
  const Buffer a = input(kMatrix * kMatrix), b = input(kMatrix * kMatrix, -1, 1), c = output(kMatrix * kMatrix);
  const Buffer money = input(kOptions, 10, 90), steps = Buffer::of(std::vector<int>(kImage * kImage), Buffer::i32);
  return {
      {"matmul_naive", {kMatrix / 16, kMatrix / 16}, {16, 16}, {a, b, c}, {{kMatrix}}},
      {"matmul_tiled", {kMatrix / 16, kMatrix / 16}, {16, 16}, {a, b, c}, {{kMatrix}}},
      doubles(),
      {"option_prices",
       {kOptions / 256, 1},
       {256, 1},
       {money, input(kOptions, 80, 20), output(kOptions)},
       {{kOptions}}},
      {"mandelbrot", {kImage / 32, kImage / 8}, {32, 8}, {steps}, {{kImage, 128}}},
      {"n_body", {4096 / 256, 1}, {256, 1}, {input(4 * 4096), output(4096)}, {{4096}}},
      {"softmax_rows", {4096, 1}, {32, 1}, {input(4096 * 512, -4, 4), output(4096 * 512)}, {{512}}},
  };
}

inline std::vector<Benchmark> all() {
  std::vector<Benchmark> both = moving();
  for (const Benchmark& each : computing()) both.push_back(each);
  return both;
}

// One line: the kernel, its best time of kRuns runs after a first one that is not counted, in seconds, and the sum of
// its results.
template <class Run, class Result>
void measure(const char* kernel, Run run, Result result) {
  run();
  double best = INFINITY;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
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
