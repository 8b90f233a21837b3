// Two series of kernels: a histogram of bytes and a scan. Each result is verified completely, then the rung is timed,
// next to CUB if it was built. With --controls, it measures what limits the rungs; with --profile, it launches each
// kernel once, for a profiler, with 2^20 elements or another power of two (--profile 26).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "library.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using u64 = unsigned long long;
using Work = std::function<void()>;

constexpr int kLongestBar = 24;      // characters
constexpr int kRuns = 9;              // the median of this many
constexpr u64 kLargest = 1ull << 28;  // elements of 4 bytes
constexpr u64 kTable = 1ull << 20;    // random elements, which are repeated

struct Rung {
  const char* kernel;
  const char* idea;
};

constexpr Rung kHistograms[] = {
    {"global_bins", "one set of bins"},  {"block_bins", "bins per block, in shared memory"},
    {"vectorized", "16 bytes per load"}, {"warp_bins", "bins per warp"},
    {"lane_bins", "bins per lane"},
};

constexpr Rung kScans[] = {
    {"scan_then_add", "scan tiles, add what precedes them"},
    {"sum_then_scan", "sum tiles, then scan them"},
    {"chained", "one pass, wait for the predecessor"},
    {"look_back", "look-back, one tile per step"},
    {"warp_look_back", "look-back, 32 tiles per step"},
    {"large_tiles", "4 times as many elements per tile"},
    {"pipelined", "TMA loads, warps with roles"},
};

struct Device {
  cu::Primary context;
  cu::Module module{cu::image("kernels.ptx")}, pipeline;  // the second one only where it can run
  int multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  std::string name;

  Device() {
    if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9) {
      pipeline = cu::Module(cu::image("pipeline.ptx"));
      for (const char* kernel : {"pipelined", "pipelined_no_look_back"}) {
        CU_CHECK(cuFuncSetAttribute(pipeline.function(kernel), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    kPipelineBytes));
      }
    }
    char text[100];
    CU_CHECK(cuDeviceGetName(text, sizeof text, context.device));
    name = text;
  }

  int attribute(CUdevice_attribute which) const {
    int value;
    CU_CHECK(cuDeviceGetAttribute(&value, which, context.device));
    return value;
  }

  // As many blocks as fit on the device.
  unsigned full_grid(CUfunction kernel, int threads, int shared_bytes) const {
    int fit;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared_bytes));
    return fit * multiprocessors;
  }
};

void launch(CUfunction kernel, unsigned blocks, std::initializer_list<const void*> arguments, int threads = kThreads,
            int shared_bytes = 0) {
  std::vector<void*> addresses;
  for (const void* argument : arguments) addresses.push_back(const_cast<void*>(argument));
  CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, nullptr, addresses.data(), nullptr));
}

std::vector<unsigned> random_words(u64 n) {
  std::mt19937 generator(1);
  std::vector<unsigned> table(std::min(n, kTable));
  for (unsigned& word : table) word = generator();
  return table;
}

// The upper bytes of normally distributed BF16 numbers: the sign and seven bits of the exponent. Few values occur
// often.
std::vector<unsigned> skewed_words(u64 n) {
  std::mt19937 generator(2);
  std::normal_distribution<float> normal;
  std::vector<unsigned> table(std::min(n, kTable));
  for (unsigned& word : table) {
    for (int i = 0; i < 4; ++i) {
      const float number = normal(generator);
      unsigned bits;
      std::memcpy(&bits, &number, sizeof bits);
      word = word << 8 | bits >> 24;
    }
  }
  return table;
}

std::vector<unsigned> constant_words(u64 n) { return std::vector<unsigned>(std::min(n, kTable), 0x2a2a2a2a); }

// Fills memory with n elements: a table, repeated. n is a multiple of its size.
void fill(const cu::Memory& memory, u64 n, const std::vector<unsigned>& table) {
  const u64 bytes = n * sizeof(unsigned);
  CU_CHECK(cuMemcpyHtoD(memory.address, table.data(), table.size() * sizeof(unsigned)));
  for (u64 filled = table.size() * sizeof(unsigned); filled < bytes; filled *= 2) {
    CU_CHECK(cuMemcpyDtoD(memory.address + filled, memory.address, std::min(filled, bytes - filled)));
  }
}

struct Histogram {
  const Device& device;
  u64 n;  // bytes
  cu::Memory in{n}, bins{kBins * sizeof(unsigned)};
  std::vector<unsigned> expected;

  Histogram(const Device& where, u64 bytes) : device(where), n(bytes) {}

  void use(const std::vector<unsigned>& table) {
    fill(in, n / sizeof(unsigned), table);
    expected.assign(kBins, 0);
    for (const unsigned word : table) {
      for (int shift = 0; shift < 32; shift += 8) ++expected[word >> shift & 255];
    }
    for (unsigned& count : expected) count *= static_cast<unsigned>(n / sizeof(unsigned) / table.size());
  }

  void run(const char* name) {
    const bool per_lane = std::strcmp(name, "lane_bins") == 0;
    const int threads = per_lane ? kLaneThreads : kThreads, shared_bytes = per_lane ? kLaneBytes : 0;
    const CUfunction kernel = device.module.function(name);
    CU_CHECK(cuMemsetD32Async(bins.address, 0, kBins, nullptr));
    launch(kernel, device.full_grid(kernel, threads, shared_bytes), {&in.address, &bins.address, &n}, threads,
           shared_bytes);
  }

  // Returns GB/s, or 0 if a count is wrong.
  double speed(const Work& work) const {
    CU_CHECK(cuMemsetD32(bins.address, 0xffffffff, kBins));
    work();
    std::vector<unsigned> got(kBins);
    CU_CHECK(cuMemcpyDtoH(got.data(), bins.address, kBins * sizeof(unsigned)));
    return got == expected ? n / cu::median_device_seconds(work, kRuns) / 1e9 : 0;
  }
};

struct Scan {
  const Device& device;
  u64 n;  // elements
  u64 bytes = n * sizeof(unsigned);
  std::vector<unsigned> table = random_words(n);
  unsigned tiles = static_cast<unsigned>(n / kTile), pipeline_tiles = static_cast<unsigned>(n / kPipelineTile);
  unsigned tiles_of_sums = (tiles + kTile - 1) / kTile;
  static_assert(kPipelineTile >= kTile, "the states of `tiles` tiles are enough for every rung");
  // The number of the next tile and the states of all tiles; for rungs 1 and 2, the sums of the tiles.
  cu::Memory in{bytes}, out{bytes}, progress{(tiles + 1) * sizeof(u64)};
  cu::Memory sums_of_tiles{tiles_of_sums * kTile * sizeof(unsigned)};
  cu::Memory expected{table.size() * sizeof(unsigned)}, counter{sizeof(unsigned)};  // of wrong elements, or of steps

  Scan(const Device& where, u64 count) : device(where), n(count) {
    CU_CHECK(cuMemsetD32(sums_of_tiles.address, 0, tiles_of_sums * kTile));
    fill(in, n, table);
    std::vector<unsigned> sums(table.size());
    unsigned sum = 0;
    for (u64 i = 0; i < table.size(); ++i) sums[i] = sum += table[i];
    CU_CHECK(cuMemcpyHtoD(expected.address, sums.data(), sums.size() * sizeof(unsigned)));
  }

  bool can_run(const std::string& rung) const { return !is_pipelined(rung) || device.pipeline.handle != nullptr; }
  static bool is_pipelined(const std::string& rung) { return rung.rfind("pipelined", 0) == 0; }

  void run(const std::string& rung) const {
    const auto kernel = [&](const std::string& name) { return device.module.function(name.c_str()); };
    if (rung == "scan_then_add") {
      launch(kernel("scan_tiles"), tiles, {&in.address, &out.address, &sums_of_tiles.address});
      launch(kernel("scan_sums"), 1, {&sums_of_tiles.address, &tiles_of_sums});
      launch(kernel("add_sums"), tiles, {&out.address, &sums_of_tiles.address});
      return;
    }
    if (rung == "sum_then_scan") {
      launch(kernel("sum_tiles"), tiles, {&in.address, &sums_of_tiles.address});
      launch(kernel("scan_sums"), 1, {&sums_of_tiles.address, &tiles_of_sums});
      launch(kernel("scan_with_sums"), tiles, {&in.address, &out.address, &sums_of_tiles.address});
      return;
    }
    const CUdeviceptr next_tile = progress.address, states = next_tile + sizeof(u64);
    CU_CHECK(cuMemsetD8Async(progress.address, 0, (tiles + 1) * sizeof(u64), nullptr));
    if (is_pipelined(rung)) {
      const CUfunction pipelined = device.pipeline.function(rung.c_str());
      const unsigned blocks = device.full_grid(pipelined, kPipelineThreads, kPipelineBytes);
      launch(pipelined, std::min(blocks, pipeline_tiles),
             {&in.address, &out.address, &next_tile, &states, &pipeline_tiles}, kPipelineThreads, kPipelineBytes);
      return;
    }
    // Only the control runs that count steps have the last argument.
    launch(kernel(rung), tiles_of(rung), {&in.address, &out.address, &next_tile, &states, &counter.address});
  }

  unsigned tiles_of(const std::string& rung) const {
    const bool large = rung.rfind("large_tiles", 0) == 0;
    return static_cast<unsigned>(n / (large ? kLargeTile : kTile));
  }

  void copy() const { CU_CHECK(cuMemcpyDtoDAsync(out.address, in.address, bytes, nullptr)); }

  // Returns GB/s: each element is loaded and stored once, whatever the work does beyond that.
  double speed(const Work& work) const { return 2 * bytes / cu::median_device_seconds(work, kRuns) / 1e9; }

  // The same, or 0 if a sum is wrong.
  double verified_speed(const Work& work) const {
    CU_CHECK(cuMemsetD8(out.address, 0, bytes));
    CU_CHECK(cuMemsetD32(counter.address, 0, 1));
    work();
    const unsigned period = static_cast<unsigned>(table.size());
    launch(device.module.function("count_wrong"), 8 * device.multiprocessors,
           {&out.address, &expected.address, &n, &period, &counter.address});
    unsigned count;
    CU_CHECK(cuMemcpyDtoH(&count, counter.address, sizeof count));
    return count == 0 ? speed(work) : 0;
  }
};

// Returns how many elements to use: a power of two for which a scan takes about half a millisecond on this device.
u64 count_for(const Device& device) {
  std::size_t free_bytes, total_bytes;
  CU_CHECK(cuMemGetInfo(&free_bytes, &total_bytes));
  for (u64 n = 1 << 17;; n *= 2) {
    if (n == kLargest || 32 * n > free_bytes) return n;
    const Scan trial(device, n);
    if (cu::median_device_seconds([&] { trial.run("warp_look_back"); }, 3) > 6e-4) return n;
  }
}

bool climb_histograms(const Device& device, u64 bytes, const Library& cub) {
  Histogram histogram(device, bytes);
  struct Row {
    Rung rung;
    std::vector<double> speeds;
  };
  std::vector<Row> rows;
  for (const Rung& rung : kHistograms) rows.push_back({rung, {}});
  if (cub.histogram != nullptr) rows.push_back({{"(CUB)", "HistogramEven, for comparison"}, {}});
  for (const auto& words : {random_words, skewed_words, constant_words}) {
    histogram.use(words(bytes / sizeof(unsigned)));
    for (Row& row : rows) {
      row.speeds.push_back(histogram.speed([&] {
        if (row.rung.kernel[0] == '(') {
          CU_CHECK(cub.histogram(histogram.in.address, histogram.bins.address, bytes));
        } else {
          histogram.run(row.rung.kernel);
        }
      }));
    }
  }
  bool right = true;
  std::printf("\nhistogram    what changed, GB/s                random   skewed  constant\n");
  for (const Row& row : rows) {
    const bool all = std::count(row.speeds.begin(), row.speeds.end(), 0.0) == 0;
    right &= all;
    std::printf("%-11s  %-32s ", row.rung.kernel, row.rung.idea);
    if (all) {
      std::printf("%7.1f  %7.1f   %7.1f\n", row.speeds[0], row.speeds[1], row.speeds[2]);
    } else {
      std::printf(" WRONG: not timed\n");
    }
  }
  if (cub.histogram == nullptr) std::printf("%-11s  not built\n", "(CUB)");
  return right;
}

bool climb_scans(const Device& device, u64 n, const Library& cub) {
  const Scan scan(device, n);
  double copy = scan.speed([&] { scan.copy(); });
  std::vector<double> speeds;
  for (const Rung& rung : kScans) {
    speeds.push_back(scan.can_run(rung.kernel) ? scan.verified_speed([&] { scan.run(rung.kernel); }) : -1);
  }
  double of_cub = -1;
  if (cub.scan != nullptr) {
    of_cub = scan.verified_speed([&] { CU_CHECK(cub.scan(scan.in.address, scan.out.address, n)); });
  }
  copy = std::max(copy, scan.speed([&] { scan.copy(); }));

  const auto row = [&](const Rung& rung, double speed, const char* reason) {
    std::printf("%-14s  %-35s ", rung.kernel, rung.idea);
    if (speed <= 0) {
      std::printf("%s\n", speed < 0 ? reason : "WRONG: not timed");
    } else {
      std::printf("%7.1f  %4.2f %s\n", speed, speed / copy, cu::bar(speed, copy, kLongestBar).c_str());
    }
  };
  std::printf("\nscan            what changed                           GB/s  of a copy\n");
  for (std::size_t i = 0; i < speeds.size(); ++i) row(kScans[i], speeds[i], "skipped: needs compute capability 9.0");
  row({"(CUB)", "InclusiveSum, for comparison"}, of_cub, "not built");
  row({"(a copy)", "cuMemcpyDtoD, for comparison"}, copy, "");
  return std::count(speeds.begin(), speeds.end(), 0.0) == 0 && of_cub != 0;
}

// Measures scans that leave something out. Their results are not the running sums.
void measure_controls(const Device& device, u64 n) {
  const Scan scan(device, n);
  std::printf("\ncontrol run                                               GB/s\n");
  const Rung controls[] = {
      {"warp_look_back", "warp_look_back"}, {"no_look_back", "the same without a look-back"},
      {"large_tiles", "large_tiles"},       {"large_tiles_no_look_back", "the same without a look-back"},
      {"pipelined", "pipelined"},           {"pipelined_no_look_back", "the same without a look-back"}};
  for (const Rung& control : controls) {
    if (!scan.can_run(control.kernel)) continue;
    std::printf("%-53s %8.1f\n", control.idea, scan.speed([&] { scan.run(control.kernel); }));
  }
  std::printf("\nsteps of one look-back, on average\n");
  const Rung counted[] = {{"look_back_steps", "look_back, one tile per step"},
                          {"warp_look_back_steps", "warp_look_back, 32 tiles per step"},
                          {"large_tiles_steps", "large_tiles, 32 tiles per step"}};
  for (const Rung& control : counted) {
    CU_CHECK(cuMemsetD32(scan.counter.address, 0, 1));
    scan.run(control.kernel);
    unsigned steps;
    CU_CHECK(cuMemcpyDtoH(&steps, scan.counter.address, sizeof steps));
    std::printf("%-53s %8.2f\n", control.idea, static_cast<double>(steps) / scan.tiles_of(control.kernel));
  }
}

void launch_each_once(const Device& device, u64 n) {
  const Library cub;
  Histogram histogram(device, n * sizeof(unsigned));
  for (const auto& words : {random_words, skewed_words, constant_words}) {
    histogram.use(words(n));
    for (const Rung& rung : kHistograms) histogram.run(rung.kernel);
  }
  const Scan scan(device, n);
  for (const Rung& rung : kScans) {
    if (scan.can_run(rung.kernel)) scan.run(rung.kernel);
  }
  if (cub.scan != nullptr) CU_CHECK(cub.scan(scan.in.address, scan.out.address, n));
  CU_CHECK(cuCtxSynchronize());
}

int main(int argc, char** argv) try {
  const Device device;
  const std::string option = argc > 1 ? argv[1] : "";
  if (option == "--profile") {
    launch_each_once(device, 1ull << (argc > 2 ? std::stoi(argv[2]) : 20));
    return 0;
  }
  const u64 n = count_for(device);
  std::printf("%s, %.2f Mi elements of 4 bytes, peak bandwidth %.0f GB/s\n", device.name.c_str(), n / 1048576.0,
              cu::memory_limit(device.context.device));
  if (option == "--controls") {
    measure_controls(device, n);
    return 0;
  }
  const Library cub;
  bool right = climb_histograms(device, n * sizeof(unsigned), cub);
  right &= climb_scans(device, n, cub);
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
