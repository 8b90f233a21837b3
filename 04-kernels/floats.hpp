// What the lessons with ladders of FP32 products share on the host: each kernel's result is verified completely on the
// device, for integers and for random normal numbers, and then the kernel is timed with normal numbers, next to cuBLAS
// if it is installed. The module contains the kernels of exact.hpp.
#pragma once
#include "04-kernels/sgemm.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace floats {

constexpr int kLongestBar = 20;  // characters
constexpr int kRuns = 7;

struct Rung {
  const char* kernel;
  const char* idea;
  int rows, columns;                // of the tile of c that a block computes
  int thread_rows, thread_columns;  // of the elements that a thread computes

  constexpr int threads() const { return rows / thread_rows * (columns / thread_columns); }
  // For each k, a thread loads a column and a row of its factors: floats per multiply-add.
  constexpr double loads() const { return double(thread_rows + thread_columns) / (thread_rows * thread_columns); }
};

template <class S>
constexpr Rung rung(const char* kernel, const char* idea) {
  return {kernel, idea, S::kRows, S::kColumns, S::kThreadRows, S::kThreadColumns};
}

struct Device {
  cu::Primary context;
  cu::Module module;
  int multiprocessors;
  double peak = cu::arithmetic_limit(context.device);  // GFLOP/s
  double megahertz;

  // `image` is the name of the file with the kernels.
  explicit Device(const std::string& image) : module(cu::image(image)) {
    int kilohertz;
    CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
    CU_CHECK(cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, context.device));
    megahertz = kilohertz / 1e3;
  }

  void launch(const char* kernel, unsigned x, unsigned y, int threads, void** arguments) const {
    CU_CHECK(cuLaunchKernel(module.function(kernel), x, y, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  // One thread for each of `count` elements.
  void launch_over(const char* kernel, unsigned count, void** arguments) const {
    launch(kernel, (count + 255) / 256, 1, 256, arguments);
  }
};

// Two random matrices, and room for their exact product.
struct Input {
  static constexpr int kTile = 32;  // of the kernel `reference`

  const Device& device;
  int n;
  unsigned count = static_cast<unsigned>(n) * n;
  double tolerance;  // how far an element may be from the exact one, relative to the sum of its products' magnitudes
  cu::Memory a{count * sizeof(float)}, b{count * sizeof(float)};
  cu::Memory exact{count * sizeof(double)}, magnitude{count * sizeof(double)}, wrong{sizeof(unsigned)};

  Input(const Device& where, int side, const char* fill, double relative)
      : device(where), n(side), tolerance(relative) {
    unsigned seed = 1;
    for (CUdeviceptr address : {a.address, b.address}) {
      void* arguments[] = {&address, &count, &seed};
      device.launch_over(fill, count, arguments);
      seed += 2;
    }
  }

  // Computes the exact product. Without it, there is nothing to compare with.
  void multiply() {
    void* arguments[] = {&a.address, &b.address, &exact.address, &magnitude.address, &n};
    device.launch("reference", n / kTile, n / kTile, kTile * kTile, arguments);
  }

  // Returns whether every element of c is right.
  bool right(CUdeviceptr c) const {
    CU_CHECK(cuMemsetD32(wrong.address, 0, 1));
    double relative = tolerance;
    unsigned all = count;
    CUdeviceptr expected = exact.address, scale = magnitude.address, counter = wrong.address;
    void* arguments[] = {&c, &expected, &scale, &relative, &all, &counter};
    device.launch_over("count_wrong", count, arguments);
    unsigned found;
    CU_CHECK(cuMemcpyDtoH(&found, wrong.address, sizeof found));
    return found == 0;
  }
};

// Sums of integers up to 2^24 are exact in any order. A sum of n products of normal numbers passes through at most n
// roundings, each with a relative error of at most 2^-24.
struct Experiment {
  const Device& device;
  int n;
  Input integers{device, n, "fill_with_integers", 0};
  Input normals{device, n, "fill_with_normals", n * std::ldexp(1.0, -24)};
  cu::Memory c{sizeof(float) * n * n};

  Experiment(const Device& where, int side) : device(where), n(side) {}

  void launch(const Rung& rung, const Input& input) {
    CUdeviceptr a = input.a.address, b = input.b.address;
    void* arguments[] = {&a, &b, &c.address, &n};
    device.launch(rung.kernel, n / rung.columns, n / rung.rows, rung.threads(), arguments);
  }

  double gflops(const std::function<void()>& work) const {
    return 2.0 * n * n * n / cu::median_device_seconds(work, kRuns) / 1e9;
  }

  // Returns whether `work(input)` leaves the right product in c, for both inputs.
  bool right(const std::function<void(const Input&)>& work) {
    for (const Input* input : {&integers, &normals}) {
      CU_CHECK(cuMemsetD8(c.address, 0xff, sizeof(float) * n * n));  // not a number
      work(*input);
      if (!input->right(c.address)) return false;
    }
    return true;
  }
};

// Returns the side of the matrices: a power of two, up to 4096, for which a kernel takes a few milliseconds on this
// device.
inline int side(const Device& device, const Rung& rung) {
  std::size_t free_bytes, total_bytes;
  CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
  for (int n = 256;; n *= 2) {
    const std::size_t bytes = sizeof(float) * n * n;
    cu::Memory a(bytes), b(bytes), c(bytes);
    CU_CHECK(cuMemsetD8(a.address, 0, bytes));
    CU_CHECK(cuMemsetD8(b.address, 0, bytes));
    void* arguments[] = {&a.address, &b.address, &c.address, &n};
    const auto work = [&] { device.launch(rung.kernel, n / rung.columns, n / rung.rows, rung.threads(), arguments); };
    if (n == 4096 || 20 * bytes > free_bytes || cu::median_device_seconds(work, 3) > 3e-3) return n;
  }
}

// Verifies and measures each rung, and cuBLAS if it is installed. Returns whether all results were right.
inline bool climb(const Device& device, const std::vector<Rung>& ladder, int n) {
  Experiment experiment(device, n);
  experiment.integers.multiply();
  experiment.normals.multiply();
  char name[100];
  CU_CHECK(cuDeviceGetName(name, sizeof name, device.context.device));
  std::printf("%s, %d x %d floats\n%d multiprocessors at %.0f MHz, peak %.0f GFLOP/s\n\n", name, experiment.n,
              experiment.n, device.multiprocessors, device.megahertz, device.peak);
  std::printf("kernel           what changed                 floats/FMA  GFLOP/s  of peak\n");
  const auto row = [&](const char* kernel, const char* idea, const char* loads, double speed) {
    std::printf("%-16s %-28s %10s %8.1f     %4.2f %s\n", kernel, idea, loads, speed, speed / device.peak,
                cu::bar(speed, device.peak, kLongestBar).c_str());
  };
  const auto wrong = [](const char* kernel, const char* idea) {
    std::printf("%-16s %-28s WRONG: not timed\n", kernel, idea);
    return false;
  };

  const Cublas cublas;
  const auto library = [&](const Input& input) {
    cublas.multiply(input.a.address, input.b.address, experiment.c.address, experiment.n);
  };
  const auto time_library = [&] { return experiment.gflops([&] { library(experiment.normals); }); };
  const double before = cublas ? time_library() : 0;  // the device's clock may fall while it works

  bool right = true;
  for (const Rung& rung : ladder) {
    if (experiment.right([&](const Input& input) { experiment.launch(rung, input); })) {
      char loads[20];
      std::snprintf(loads, sizeof loads, "%.2f", rung.loads());
      row(rung.kernel, rung.idea, loads, experiment.gflops([&] { experiment.launch(rung, experiment.normals); }));
    } else {
      right = wrong(rung.kernel, rung.idea);
    }
  }
  if (cublas) {
    if (experiment.right(library)) {
      row("(cuBLAS)", "for comparison", "", std::max(before, time_library()));
    } else {
      right = wrong("(cuBLAS)", "for comparison");
    }
  }
  return right;
}

// Measures kernels that are not part of the ladder.
inline bool measure_controls(const Device& device, const std::vector<Rung>& controls, int n) {
  Experiment experiment(device, n);
  experiment.integers.multiply();
  experiment.normals.multiply();
  std::printf("control run       what is different            floats/FMA  GFLOP/s\n");
  for (const Rung& rung : controls) {
    if (!experiment.right([&](const Input& input) { experiment.launch(rung, input); })) {
      std::printf("%-17s %-28s WRONG: not timed\n", rung.kernel, rung.idea);
      return false;
    }
    const double speed = experiment.gflops([&] { experiment.launch(rung, experiment.normals); });
    std::printf("%-17s %-28s %10.2f %8.1f\n", rung.kernel, rung.idea, rung.loads(), speed);
  }
  return true;
}

// Launches each kernel once.
inline void profile(const Device& device, const std::vector<Rung>& kernels, int n) {
  Experiment experiment(device, n);
  for (const Rung& rung : kernels) experiment.launch(rung, experiment.normals);
  CU_CHECK(cuCtxSynchronize());
}

// The program of a lesson. `trial` is the kernel with which the side of the matrices is chosen. The process's result.
inline int run(int argc, char** argv, const Device& device, const std::vector<Rung>& ladder,
               const std::vector<Rung>& controls, const Rung& trial) {
  const std::string option = argc > 1 ? argv[1] : "";
  if (option == "--profile") {
    const int n = argc > 2 ? std::atoi(argv[2]) : 256;
    if (n <= 0 || n % 256 != 0) {
      std::fprintf(stderr, "'%s' is not a valid side for the matrices: it must be a multiple of 256.\n", argv[2]);
      return 1;
    }
    std::vector<Rung> all = ladder;
    all.insert(all.end(), controls.begin(), controls.end());
    profile(device, all, n);
    return 0;
  }
  const int n = side(device, trial);
  return (option == "--controls" ? measure_controls(device, controls, n) : climb(device, ladder, n)) ? 0 : 1;
}

}  // namespace floats
