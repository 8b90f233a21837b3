// Six kernels that add n elements. Each is verified and then timed against the peak bandwidth, next to CUB
// if it was built. With --controls, it measures what limits rungs 2 and 3. With
// --profile BITS, it launches each kernel once with 2^BITS elements, for a profiler.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "library.hpp"
#include "shape.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using u64 = unsigned long long;

constexpr int kLongestBar = 24;  // characters

struct Rung {
  const char* kernel;
  const char* idea;
  bool fills_device;  // as many blocks as fit; otherwise, one thread per element
};

constexpr std::pair<const char*, const char*> kControls[] = {
    {"interleaved", "interleaved, one atomic per block"},
    {"interleaved_store", "interleaved, storing one partial sum per block"},
    {"interleaved_free", "interleaved, storing, without barriers"},
    {"sequential", "the same tree, contiguous threads, one atomic"},
    {"shuffle", "shuffle, one atomic per block"},
    {"shuffle_store", "shuffle, storing one partial sum per block"},
    {"barriers_only", "nine barriers: each thread loads and waits"},
    {"load_only", "no reduction: each thread only loads its element"},
};

constexpr Rung kLadder[] = {
    {"atomic", "one atomicAdd per element", false},       {"interleaved", "tree in shared memory, stride 2^k", false},
    {"shuffle", "warp shuffles, one barrier", false},     {"grid_stride", "many elements per thread", true},
    {"vectorized", "four 128-bit loads in flight", true},
};

// n elements on the device: a table of random values, repeated. The expected sum is computed from the table.
template <class T>
struct Input {
  u64 n;
  cu::Memory memory, sum{sizeof(T)};
  double exact = 0;      // of floats, in double precision
  double magnitude = 0;  // sum of absolute values
  T wrapped = 0;         // of unsigned elements, modulo 2^32

  Input(u64 count, const std::vector<T>& table) : n(count), memory(count * sizeof(T)) {
    const u64 bytes = n * sizeof(T), table_bytes = std::min<u64>(bytes, table.size() * sizeof(T));
    CU_CHECK(cuMemcpyHtoD(memory.address, table.data(), table_bytes));
    for (u64 filled = table_bytes; filled < bytes; filled *= 2) {
      CU_CHECK(cuMemcpyDtoD(memory.address + filled, memory.address, std::min(filled, bytes - filled)));
    }
    const u64 used = table_bytes / sizeof(T);
    for (u64 i = 0; i < used; ++i) {
      exact += table[i];
      magnitude += std::fabs(static_cast<double>(table[i]));
      wrapped += table[i];
    }
    exact *= static_cast<double>(n / used);
    magnitude *= static_cast<double>(n / used);
    wrapped *= static_cast<T>(n / used);
  }

  bool right() const;
};

template <>
bool Input<unsigned>::right() const {
  unsigned got;
  CU_CHECK(cuMemcpyDtoH(&got, sum.address, sizeof got));
  return got == wrapped;
}

// Each addition of floats rounds with a relative error of at most 2^-24. No element passes through more than 8192
// additions, so the sum differs from the exact one by at most 8192 * 2^-24 times the sum of absolute values.
template <>
bool Input<float>::right() const {
  float got;
  CU_CHECK(cuMemcpyDtoH(&got, sum.address, sizeof got));
  return std::fabs(got - exact) <= 8192 * std::ldexp(1.0, -24) * magnitude;
}

constexpr u64 kTable = 1 << 20;  // random values

std::vector<unsigned> random_integers() {
  std::mt19937 generator(1);
  std::vector<unsigned> table(kTable);
  for (unsigned& value : table) value = generator();
  return table;
}

std::vector<float> random_normals() {
  std::mt19937 generator(2);
  std::normal_distribution<float> normal;
  std::vector<float> table(kTable);
  for (float& value : table) value = normal(generator);
  return table;
}

struct Ladder {
  cu::Primary context;
  cu::Module module{cu::image("kernels.ptx")};
  int multiprocessors = 0;
  double peak = cu::memory_limit(context.device);  // GB/s

  Ladder() {
    CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
  }

  unsigned blocks_that_fit(CUfunction kernel) const {
    int fit;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, kThreads, 0));
    return fit * multiprocessors;
  }

  static void launch(CUfunction kernel, unsigned blocks, void** arguments) {
    CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Returns how many elements to add: a power of two, up to 2^30, for which a kernel takes a few milliseconds on this
  // device. With fewer elements, the launch itself would be measured.
  u64 count() const {
    std::size_t free_bytes, total_bytes;
    CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
    const CUfunction kernel = module.function("grid_stride");
    for (u64 n = 1 << 18;; n *= 2) {
      if (n == 1u << 30 || 32 * n > free_bytes) return n;
      Input<unsigned> trial(n, std::vector<unsigned>(1024, 1));
      CU_CHECK(cuMemsetD32(trial.sum.address, 0, 1));
      void* arguments[] = {&trial.memory.address, &trial.sum.address, &trial.n};
      const unsigned blocks = blocks_that_fit(kernel);
      if (cu::median_device_seconds([&] { launch(kernel, blocks, arguments); }, 3) > 3e-3) return n;
    }
  }

  // Verifies, then measures and prints a row. `work` leaves the sum on the device. Returns whether the sum was right.
  template <class T>
  bool climb(const char* name, const char* idea, const Input<T>& input, const std::function<void()>& work) const {
    CU_CHECK(cuMemsetD32(input.sum.address, 0, 1));
    work();
    if (!input.right()) {
      std::printf("%-11s %-34s WRONG: not timed\n", name, idea);
      return false;
    }
    const double seconds = cu::median_device_seconds(work);
    const double speed = input.n * sizeof(T) / seconds / 1e9, share = peak > 0 ? speed / peak : 0;
    std::printf("%-11s %-34s %7.1f   %4.2f %s\n", name, idea, speed, share, cu::bar(share, 1, kLongestBar).c_str());
    return true;
  }

  template <class T>
  bool climb_last_block(const char* kernel_name, const char* idea, Input<T>& input) const {
    const CUfunction kernel = module.function(kernel_name);
    const unsigned blocks = blocks_that_fit(kernel);
    cu::Memory partial(blocks * sizeof(T)), finished(sizeof(unsigned));
    CU_CHECK(cuMemsetD32(finished.address, 0, 1));
    void* arguments[] = {&input.memory.address, &input.sum.address, &input.n, &partial.address, &finished.address};
    return climb("last_block", idea, input, [&] { launch(kernel, blocks, arguments); });
  }

  bool climb_all() const {
    const u64 n = count();
    Input<unsigned> input(n, random_integers());
    char name[100];
    CU_CHECK(cuDeviceGetName(name, sizeof name, context.device));
    std::printf("%s, %.1f Mi elements, peak bandwidth %.0f GB/s\n\n", name, n / 1048576.0, peak);
    std::printf("kernel      what changed                          GB/s   of peak\n");
    bool right = true;
    for (const Rung& rung : kLadder) {
      const CUfunction kernel = module.function(rung.kernel);
      const unsigned blocks =
          rung.fills_device ? blocks_that_fit(kernel) : static_cast<unsigned>((n + kThreads - 1) / kThreads);
      void* arguments[] = {&input.memory.address, &input.sum.address, &input.n};
      right &= climb(rung.kernel, rung.idea, input, [&] {
        CU_CHECK(cuMemsetD32Async(input.sum.address, 0, 1, nullptr));
        launch(kernel, blocks, arguments);
      });
    }
    right &= climb_last_block("last_block", "block sums added in a fixed order", input);
    const Library cub;
    if (cub.unsigned_sum != nullptr) {
      right &= climb("(CUB)", "unsigned, for comparison", input,
                     [&] { CU_CHECK(cub.unsigned_sum(input.memory.address, input.sum.address, n)); });
    }
    Input<float> floats(n, random_normals());
    right &= climb_last_block("last_block_float", "the same for floats", floats);
    if (cub.float_sum != nullptr) {
      right &= climb("(CUB)", "float, for comparison", floats,
                     [&] { CU_CHECK(cub.float_sum(floats.memory.address, floats.sum.address, n)); });
    }
    return right;
  }

  // Measures variants of the trees that leave something out. Their sums are not the sum of all elements.
  void measure_controls() const {
    const u64 n = count();
    Input<unsigned> input(n, random_integers());
    const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    cu::Memory sums(blocks * sizeof(unsigned));
    void* arguments[] = {&input.memory.address, &sums.address, &input.n};
    std::printf("control run                                          ms      GB/s\n");
    for (const auto& [kernel, label] : kControls) {
      const CUfunction function = module.function(kernel);
      const double seconds = cu::median_device_seconds([&] { launch(function, blocks, arguments); });
      std::printf("%-48s %7.3f  %8.1f\n", label, seconds * 1e3, n * sizeof(unsigned) / seconds / 1e9);
    }
  }

  // Launches each kernel of the ladder and each control run once.
  void profile(u64 n) const {
    Input<unsigned> input(n, random_integers());
    const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    cu::Memory sums(blocks * sizeof(unsigned)), finished(sizeof(unsigned));
    CU_CHECK(cuMemsetD32(finished.address, 0, 1));
    void* arguments[] = {&input.memory.address, &input.sum.address, &input.n, &sums.address, &finished.address};
    for (const Rung& rung : kLadder) {
      const CUfunction kernel = module.function(rung.kernel);
      launch(kernel, rung.fills_device ? blocks_that_fit(kernel) : blocks, arguments);
    }
    const CUfunction last = module.function("last_block");
    launch(last, blocks_that_fit(last), arguments);
    arguments[1] = &sums.address;
    for (const auto& [kernel, label] : kControls) launch(module.function(kernel), blocks, arguments);
    CU_CHECK(cuCtxSynchronize());
  }
};

int main(int argc, char** argv) try {
  const Ladder ladder;
  const std::string option = argc > 1 ? argv[1] : "";
  if (option == "--controls") {
    ladder.measure_controls();
    return 0;
  }
  if (option == "--profile" && argc > 2) {
    ladder.profile(u64{1} << std::atoi(argv[2]));
    return 0;
  }
  return ladder.climb_all() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
