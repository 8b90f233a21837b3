// Eleven kernels that multiply matrices. Each result is verified completely on the device, for integers and
// for random normal numbers, and then the kernel is timed with normal numbers, next to cuBLAS if it is installed. With
// --profile [SIDE], it launches each kernel once, for a profiler.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "library.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

constexpr int kLongestBar = 20;  // characters
constexpr int kRuns = 7;

struct Rung {
  const char* kernel;
  const char* idea;
  int rows, columns;                // of the tile of c that a block computes
  int thread_rows, thread_columns;  // of the elements that a thread computes
  bool shares = false;              // whether some blocks share tiles

  constexpr int threads() const { return rows / thread_rows * (columns / thread_columns); }
  // For each k, a thread loads a column and a row of its factors: floats per multiply-add.
  constexpr double loads() const { return double(thread_rows + thread_columns) / (thread_rows * thread_columns); }
};

template <class S>
constexpr Rung rung(const char* kernel, const char* idea, bool shares = false) {
  return {kernel, idea, S::kRows, S::kColumns, S::kThreadRows, S::kThreadColumns, shares};
}

constexpr Rung kLadder[] = {
    rung<Element>("naive", "a thread for each element"),        rung<Element>("coalesced", "lanes along the rows"),
    rung<Element>("tiled", "tiles in shared memory"),           rung<Strip>("register_1d", "8 elements per thread"),
    rung<Square>("register_2d", "8 x 8 elements per thread"),   rung<Square>("vectorized", "128-bit loads and stores"),
    rung<Square>("warp_tiled", "a tile for each warp"),         rung<Square>("double_buffered", "tiles loaded ahead"),
    rung<Large>("larger", "8 x 16 elements per thread"),        rung<Large>("prefetched", "fragments loaded ahead"),
    rung<Large>("balanced", "equal work for all blocks", true),
};
constexpr const Rung& kTiled = kLadder[2];

// Returns the path of the kernels. Before compute capability 8.0, a device has no asynchronous copies; in the image for
// such devices, ordinary loads and stores replace them.
std::string best_image(CUdevice device) {
  int major;
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  const std::string asynchronous = cu::image("kernels_80.ptx");
  return major >= 8 && std::ifstream(asynchronous) ? asynchronous : cu::image("kernels.ptx");
}

struct Device {
  cu::Primary context;
  cu::Module module{best_image(context.device)};
  int multiprocessors;
  double peak = cu::arithmetic_limit(context.device);  // GFLOP/s
  double megahertz;

  Device() {
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

  int blocks_that_fit(const Rung& rung) const {
    int fit;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, module.function(rung.kernel), rung.threads(), 0));
    return fit * multiprocessors;
  }
};

// Two random matrices, and room for their exact product.
struct Input {
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
    device.launch("reference", n / kSide, n / kSide, kSide * kSide, arguments);
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
  cu::Memory partial, finished;  // for blocks that share a tile

  Experiment(const Device& where, int side)
      : device(where),
        n(side),
        partial(2 * sizeof(float) * Large::kRows * Large::kColumns * where.blocks_that_fit(std::end(kLadder)[-1])),
        finished(sizeof(unsigned) * n / Large::kRows * (n / Large::kColumns)) {
    CU_CHECK(cuMemsetD8(finished.address, 0, sizeof(unsigned) * n / Large::kRows * (n / Large::kColumns)));
  }

  void launch(const Rung& rung, const Input& input) {
    CUdeviceptr a = input.a.address, b = input.b.address;
    const int tiles = n / rung.rows * (n / rung.columns), steps = tiles * (n / kDepth);
    if (!rung.shares) {
      void* arguments[] = {&a, &b, &c.address, &n};
      device.launch(rung.kernel, n / rung.columns, n / rung.rows, rung.threads(), arguments);
      return;
    }
    // All blocks that fit share the tiles of the last two waves.
    const int fit = device.blocks_that_fit(rung), whole = std::max(0, tiles / fit - 1) * fit;
    int sharing = std::min(fit, steps);
    void* arguments[] = {&a, &b, &c.address, &n, &sharing, &partial.address, &finished.address};
    device.launch(rung.kernel, whole + sharing, 1, rung.threads(), arguments);
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

// Returns the side of the matrices: a power of two, up to 4096, for which `tiled` takes a few milliseconds on this
// device.
int side(const Device& device) {
  std::size_t free_bytes, total_bytes;
  CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
  for (int n = 256;; n *= 2) {
    const std::size_t bytes = sizeof(float) * n * n;
    cu::Memory a(bytes), b(bytes), c(bytes);
    CU_CHECK(cuMemsetD8(a.address, 0, bytes));
    CU_CHECK(cuMemsetD8(b.address, 0, bytes));
    void* arguments[] = {&a.address, &b.address, &c.address, &n};
    const auto work = [&] { device.launch(kTiled.kernel, n / kSide, n / kSide, kTiled.threads(), arguments); };
    if (n == 4096 || 20 * bytes > free_bytes || cu::median_device_seconds(work, 3) > 3e-3) return n;
  }
}

bool climb(const Device& device) {
  Experiment experiment(device, side(device));
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
  for (const Rung& rung : kLadder) {
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

int main(int argc, char** argv) try {
  const Device device;
  if (argc > 1 && std::strcmp(argv[1], "--profile") == 0) {
    const int n = argc > 2 ? std::atoi(argv[2]) : 256;
    if (n <= 0 || n % 256 != 0) {
      std::fprintf(stderr, "'%s' is not a valid side for the matrices: it must be a multiple of 256.\n", argv[2]);
      return 1;
    }
    Experiment experiment(device, n);
    for (const Rung& rung : kLadder) experiment.launch(rung, experiment.normals);
    CU_CHECK(cuCtxSynchronize());
    return 0;
  }
  return climb(device) ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
