// Six kernels that transpose a matrix, for float and for bfloat16. Each result is verified completely on the
// device, then the kernel is timed next to a copy of the matrix. With --controls, it measures what limits the rungs;
// with --profile, it launches each kernel once, for a profiler.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

using u64 = unsigned long long;
using bf16 = unsigned short;

constexpr int kLongestBar = 24;  // characters
constexpr int kRuns = 21;        // a copy's time varies by several percent from run to run
constexpr u64 kLargest = 16384;  // elements on a side

struct Rung {
  const char* kernel;
  const char* idea;
  bool vectorized;
};

constexpr Rung kLadder[] = {
    {"naive", "each thread copies its elements", false}, {"tiled", "tile in shared memory", false},
    {"padded", "rows of the tile 1 word longer", false}, {"vectorized", "128-bit accesses, larger tile", true},
    {"swizzled", "vectors permuted in the tile", true},  {"rasterized", "blocks follow the output", true},
};

struct Device {
  cu::Primary context;
  cu::Module module{cu::image("kernels.ptx")};
  std::string name;

  Device() {
    char text[100];
    CU_CHECK(cuDeviceGetName(text, sizeof text, context.device));
    name = text;
  }

  // Launches a kernel with a block of 32 × 8 threads for each tile.
  void launch(const std::string& kernel, u64 n, int tile, void** arguments) const {
    const unsigned tiles = static_cast<unsigned>(n / tile);
    CU_CHECK(cuLaunchKernel(module.function(kernel.c_str()), tiles, tiles, 1, kTile, kRows, 1, 0, nullptr, arguments,
                            nullptr));
  }
};

// A matrix of n × n random elements, and room for the transposed matrix.
template <class T>
struct Matrices {
  const Device& device;
  u64 n;
  std::size_t bytes = n * n * sizeof(T);
  cu::Memory in{bytes}, out{bytes}, wrong{sizeof(unsigned)};
  const char* suffix = sizeof(T) == sizeof(float) ? "" : "_bf16";  // of the kernels' names

  Matrices(const Device& where, u64 side) : device(where), n(side) {
    void* arguments[] = {&in.address, &n};
    device.launch(std::string("fill") + suffix, n, kTile, arguments);
  }

  void launch(const std::string& kernel, int tile) {
    void* arguments[] = {&in.address, &out.address, &n};
    device.launch(kernel, n, tile, arguments);
  }
  void launch(const Rung& rung) { launch(std::string(rung.kernel) + suffix, rung.vectorized ? kSide<T> : kTile); }
  void copy() { CU_CHECK(cuMemcpyDtoDAsync(out.address, in.address, bytes, nullptr)); }

  // Returns whether every element of the result is right.
  bool right(const Rung& rung) {
    CU_CHECK(cuMemsetD8(out.address, 0, bytes));
    CU_CHECK(cuMemsetD32(wrong.address, 0, 1));
    launch(rung);
    void* arguments[] = {&in.address, &out.address, &n, &wrong.address};
    device.launch(std::string("count_wrong") + suffix, n, kTile, arguments);
    unsigned count;
    CU_CHECK(cuMemcpyDtoH(&count, wrong.address, sizeof count));
    return count == 0;
  }

  // Returns GB/s: bytes loaded and stored.
  double speed(const std::function<void()>& work) const {
    return 2 * bytes / cu::median_device_seconds(work, kRuns) / 1e9;
  }
};

// Returns the side for which a kernel takes about half a millisecond on this device: a power of two.
u64 side(const Device& device) {
  std::size_t free_bytes, total_bytes;
  CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
  for (u64 n = kSide<bf16>;; n *= 2) {
    Matrices<float> trial(device, n);
    const double seconds = cu::median_device_seconds([&] { trial.launch(kLadder[4]); }, 3);
    if (n == kLargest || seconds > 4e-4 || 16 * trial.bytes > free_bytes) return n;
  }
}

// Verifies and measures each rung. The copy is measured before and after, and the faster one counts. Returns whether
// all results were right.
template <class T>
bool climb(const Device& device, u64 n, const char* type) {
  Matrices<T> matrices(device, n);
  double copy = matrices.speed([&] { matrices.copy(); });
  std::vector<double> speeds;  // 0 for a wrong result
  for (const Rung& rung : kLadder) {
    speeds.push_back(matrices.right(rung) ? matrices.speed([&] { matrices.launch(rung); }) : 0);
  }
  copy = std::max(copy, matrices.speed([&] { matrices.copy(); }));

  std::printf("\n%-11s what changed                       GB/s  of a copy\n", type);
  const auto row = [&](const char* kernel, const char* idea, double speed) {
    std::printf("%-11s %-31s %7.1f  %4.2f %s\n", kernel, idea, speed, speed / copy,
                cu::bar(speed, copy, kLongestBar).c_str());
  };
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (speeds[i] == 0) {
      std::printf("%-11s %-31s WRONG: not timed\n", kLadder[i].kernel, kLadder[i].idea);
    } else {
      row(kLadder[i].kernel, kLadder[i].idea, speeds[i]);
    }
  }
  row("(a copy)", "cuMemcpyDtoD, for comparison", copy);
  return std::count(speeds.begin(), speeds.end(), 0.0) == 0;
}

// Measures the global memory accesses of three rungs without a transpose: each tile moves to its place unchanged.
void measure_controls(const Device& device, u64 n) {
  Matrices<float> matrices(device, n);
  std::printf("control run                                                 GB/s\n");
  struct Control {
    const char* kernel;
    int tile;
    const char* label;
  };
  const Control controls[] = {
      {"padded", kTile, "padded"},
      {"move_words", kTile, "its loads and stores alone"},
      {"swizzled", kSide<float>, "swizzled"},
      {"move_vectors", kSide<float>, "its loads and stores alone"},
      {"rasterized", kSide<float>, "rasterized"},
      {"move_rasterized", kSide<float>, "its loads and stores alone"},
  };
  for (const Control& control : controls) {
    const double speed = matrices.speed([&] { matrices.launch(control.kernel, control.tile); });
    std::printf("%-55s %8.1f\n", control.label, speed);
  }
}

template <class T>
void launch_each_once(const Device& device) {
  Matrices<T> matrices(device, 1024);
  for (const Rung& rung : kLadder) matrices.launch(rung);
  CU_CHECK(cuCtxSynchronize());
}

int main(int argc, char** argv) try {
  const Device device;
  const std::string option = argc > 1 ? argv[1] : "";
  if (option == "--profile") {
    launch_each_once<float>(device);
    launch_each_once<bf16>(device);
    return 0;
  }
  const u64 n = side(device);
  std::printf("%s, %llu x %llu elements\n", device.name.c_str(), n, n);
  if (option == "--controls") {
    measure_controls(device, n);
    return 0;
  }
  bool right = climb<float>(device, n, "FP32");
  right &= climb<bf16>(device, n, "BF16");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
