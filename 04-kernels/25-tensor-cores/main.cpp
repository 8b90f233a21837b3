// Matrix products on tensor cores, one idea after the other, for compute capability 8.0 and later. Each kernel is
// verified, then timed with random normals. A second table compares the fastest kernel for each size with cublasLt.
//   --controls   measures variants that leave something out
//   --verify N   verifies each kernel for n = N
//   --profile N  launches each kernel once for n = N, for a profiler
#include "04-kernels/attribute.hpp"
#include "04-kernels/library.hpp"
#include "04-kernels/matrices.hpp"
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

constexpr int kLongestBar = 20;        // characters
constexpr int kLargest = 8192;         // the matrices of the first table have at most this side
constexpr double kBudget = 0.6;        // seconds of measurement per kernel
constexpr double kShortBudget = 0.08;  // per candidate and per algorithm of cublasLt
constexpr int kRounds = 7;             // then the best of both alternate
constexpr double kRoundBudget = 0.12;
constexpr int kBand = 1024;

struct Rung {
  const char *name, *kernel, *idea;
  int threads, bytes, rows, columns;  // threads and shared memory of a block, its tile
  int band;                           // rows of c that the tile order visits column by column; 0: row by row
  bool persistent;                    // as many blocks as run at once compute all tiles
};

template <class S>
constexpr Rung rung(const char* name, const char* kernel, const char* idea, int band = 0, bool persistent = false) {
  return {name, kernel, idea, kThreads<S>, kSharedBytes<S>, S::kRows, S::kColumns, band, persistent};
}

// Of several rungs with the same name, the program uses the first that fits into the shared memory of the device.
constexpr Rung kLadder[] = {
    rung<Mma>("mma", "mma", "one register per load"),
    rung<Ldmatrix>("ldmatrix", "ldmatrix", "four registers per load"),
    rung<Swizzled>("swizzled", "swizzled", "tiles are swizzled"),
    rung<CpAsync>("cp_async", "cp_async", "the next tiles are copied ahead"),
    rung<Wide>("wide", "wide", "tiles of 128 x 256"),
    rung<Multistage<4>>("multistage", "multistage_4", "four stages"),
    rung<Multistage<3>>("multistage", "multistage_3", "three stages"),
    rung<Ahead<4>>("ahead", "ahead_4", "fragments are loaded ahead"),
    rung<Ahead<3>>("ahead", "ahead_3", "fragments are loaded ahead"),
    rung<Ahead<2>>("ahead", "ahead_2", "fragments are loaded ahead"),
    rung<Ahead<4>>("rasterized", "ahead_4", "tiles in bands of rows", kBand),
    rung<Ahead<3>>("rasterized", "ahead_3", "tiles in bands of rows", kBand),
    rung<Ahead<2>>("rasterized", "ahead_2", "tiles in bands of rows", kBand),
    rung<Ahead<4>>("persistent", "ahead_4", "each block computes many tiles", kBand, true),
    rung<Ahead<3>>("persistent", "ahead_3", "each block computes many tiles", kBand, true),
    rung<Ahead<2>>("persistent", "ahead_2", "each block computes many tiles", kBand, true),
};

constexpr Rung kOnlyMma = rung<OnlyMma>("ahead", "only_mma", "neither ldmatrix nor cp.async");

constexpr Rung kControls[] = {
    rung<CpAsync>("cp_async", "cp_async", "for comparison"),
    rung<Wide>("wide", "wide", "for comparison"),
    rung<Ahead<2>>("ahead", "ahead_2", "for comparison, two stages"),
    rung<Ahead<2>>("ahead", "ahead_2", "tiles in bands of rows", kBand),
    rung<Unswizzled>("ahead", "unswizzled", "tiles are not swizzled"),
    rung<NoCopies>("ahead", "no_copies", "no cp.async after the first"),
    kOnlyMma,
};

// For each size, the fastest of these is used.
constexpr Rung kCandidates[] = {
    rung<Small>("64 x 64", "small", "", 0, true),
    rung<Square>("128 x 128", "square", "", 0, true),
    rung<Square>("128 x 128, band 2048", "square", "", 2048, true),
    rung<Ahead<3>>("128 x 256, 3 stages", "ahead_3", "", 1024, true),
    rung<Ahead<4>>("128 x 256", "ahead_4", "", 0, true),
    rung<Ahead<4>>("128 x 256, band 1024", "ahead_4", "", 1024, true),
    rung<Ahead<4>>("128 x 256, band 2048", "ahead_4", "", 2048, true),
    rung<Ahead<4>>("128 x 256, band 4096", "ahead_4", "", 4096, true),
};
constexpr int kSizes[] = {512, 1024, 2048, 4096, 8192, 16384};

double tflops(double n, double seconds) { return 2 * n * n * n / seconds / 1e12; }

class Ladder {
 public:
  // Returns whether all results were right.
  bool climb(CUdevice device) {
    char name[100];
    CU_CHECK(cuDeviceGetName(name, sizeof name, device));
    n_ = side();
    Matrices matrices(module_, n_);
    const std::vector<Rung> ladder = rungs();
    std::vector<unsigned> wrong(ladder.size());
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      for (std::size_t i = 0; i < ladder.size(); ++i) {
        if (fits(ladder[i])) wrong[i] += wrong_elements(matrices, ladder[i]);
      }
    }
    const auto [most, most_rate] = speed(kOnlyMma, matrices);
    std::printf("%s, %d x %d bfloat16, random normals\n", name, n_, n_);
    std::printf("mma instructions alone: %#.4g TFLOP/s at %.3f GHz\n\n", most, most_rate);
    std::printf("kernel      what changed                      TFLOP/s    GHz  of mma alone\n");
    for (std::size_t i = 0; i < ladder.size(); ++i) {
      const Rung& rung = ladder[i];
      if (!fits(rung)) {
        std::printf("%-11s %-31s  skipped: needs %d KiB of shared memory\n", rung.name, rung.idea, rung.bytes >> 10);
        continue;
      }
      if (wrong[i] > 0) {
        std::printf("%-11s %-31s  WRONG: not timed\n", rung.name, rung.idea);
        continue;
      }
      const auto [reached, rate] = speed(rung, matrices);
      std::printf("%-11s %-31s %#9.4g  %5.3f  %4.2f %s\n", rung.name, rung.idea, reached, rate, reached / most,
                  cu::bar(reached, most, kLongestBar).c_str());
    }
    return std::count(wrong.begin(), wrong.end(), 0u) == static_cast<std::ptrdiff_t>(wrong.size());
  }

  // For each size, the fastest candidate next to the fastest algorithm of cublasLt.
  bool compare_sizes() {
    std::printf("\nn      tile of a block             TFLOP/s   cublasLt  ratio\n");
    bool right = true;
    for (const int n : kSizes) {
      if (n > 2 * n_ && n > kSizes[0]) break;
      right &= compare(n_ < kSizes[0] ? n_ : n);
    }
    return right;
  }

  void measure_controls() {
    n_ = side();
    Matrices matrices(module_, n_);
    std::printf("kernel      control run                       normals    GHz  integers    GHz\n");
    for (const Rung& rung : kControls) {
      std::printf("%-11s %-31s", rung.name, rung.idea);
      for (const Data data : {Data::kNormals, Data::kIntegers}) {
        matrices.fill(data);
        const auto [reached, rate] = speed(rung, matrices);
        std::printf(" %#9.4g  %5.3f", reached, rate);
      }
      std::printf("\n");
    }
  }

  bool verify(int n) {
    Matrices matrices(module_, n);
    unsigned wrong = 0;
    const auto check = [&](const Rung& rung) {
      if (!fits(rung)) return;
      const unsigned count = wrong_elements(matrices, rung);
      if (count > 0) std::printf("%s: %u elements are wrong\n", rung.kernel, count);
      wrong += count;
    };
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      for (const Rung& rung : kLadder) check(rung);  // all numbers of stages
      for (const Rung& rung : kCandidates) check(rung);
    }
    std::printf("%d x %d: %s\n", n, n, wrong == 0 ? "all elements are right" : "WRONG");
    return wrong == 0;
  }

  // Launches each kernel once.
  void profile(int n) {
    Matrices matrices(module_, n);
    matrices.fill(Data::kNormals);
    for (const Rung& rung : rungs()) {
      if (fits(rung)) launch(rung, matrices);
    }
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  // The ladder on this device.
  static std::vector<Rung> rungs() {
    std::vector<Rung> found;
    for (const Rung& rung : kLadder) {
      const bool same = !found.empty() && std::strcmp(found.back().name, rung.name) == 0;
      if (!same) {
        found.push_back(rung);
      } else if (!fits(found.back())) {
        found.back() = rung;
      }
    }
    return found;
  }

  static bool fits(const Rung& rung) {
    return rung.bytes <= attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  }

  // With at most `most` blocks, if the kernel is persistent.
  void launch(const Rung& rung, const Matrices& matrices, int most = INT_MAX) const {
    const CUfunction kernel = module_.function(rung.kernel);
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rung.bytes));
    const int n = matrices.n();
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    Product product{pointer(matrices.a()),
                    pointer(matrices.b()),
                    pointer(matrices.c()),
                    n,
                    n,
                    n,
                    std::max(1, rung.band / rung.rows)};
    int blocks = n / rung.rows * (n / rung.columns);
    if (rung.persistent) {
      int at_once;
      CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, rung.threads, rung.bytes));
      blocks = std::min({blocks, at_once * multiprocessors_, most});
    }
    void* arguments[] = {&product};  // the driver copies it
    CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, rung.threads, 1, 1, rung.bytes, nullptr, arguments, nullptr));
  }

  // In TFLOP/s, and the clock rate in GHz.
  std::pair<double, double> speed(const Rung& rung, const Matrices& matrices) const {
    const auto [seconds, rate] = pace(module_, [&] { launch(rung, matrices); }, kBudget);
    return {tflops(matrices.n(), seconds), rate};
  }

  // Returns the side of the first table's matrices, for which a kernel takes at least a millisecond on this device.
  int side() const {
    for (int n = 256;; n *= 2) {
      if (n == kLargest) return n;
      Matrices trial(module_, n);
      trial.fill(Data::kNormals);
      if (cu::median_device_seconds([&] { launch(kLadder[2], trial); }, 1) > 1e-3) return n;
    }
  }

  // Small matrices have one tile per block, so persistent kernels are also verified with a quarter of the blocks.
  unsigned wrong_elements(Matrices& matrices, const Rung& rung) const {
    launch(rung, matrices);
    unsigned wrong = matrices.wrong();
    if (rung.persistent) {
      launch(rung, matrices, std::max(1, matrices.n() / rung.rows * (matrices.n() / rung.columns) / 4));
      wrong += matrices.wrong();
    }
    return wrong;
  }

  // Returns the index of the fastest of some work, as measured in a short time; -1 if there is none.
  template <class Work>
  static int fastest(std::size_t count, Work work) {
    int best = -1;
    double shortest = 0;
    for (int i = 0; i < static_cast<int>(count); ++i) {
      const double seconds = sustained_seconds([&] { work(i); }, kShortBudget);
      if (best < 0 || seconds < shortest) shortest = seconds, best = i;
    }
    return best;
  }

  bool compare(int n) {
    Matrices matrices(module_, n);
    matrices.fill(Data::kNormals);
    std::vector<Rung> candidates;
    for (const Rung& rung : kCandidates) {
      // A device that is too slow for these sizes gets the first candidate, which suits small matrices.
      if (fits(rung) && (n >= kSizes[0] || candidates.empty())) candidates.push_back(rung);
    }
    const Rung& rung = candidates[fastest(candidates.size(), [&](int i) { launch(candidates[i], matrices); })];
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      if (wrong_elements(matrices, rung) == 0) continue;
      std::printf("%-6d %-25s  WRONG: not timed\n", n, rung.name);
      return false;
    }
    const auto multiply = [&](const CublasLt::Algorithm& algorithm) { return library_.multiply(matrices, algorithm); };
    std::vector<CublasLt::Algorithm> algorithms;
    for (const auto& algorithm : library_.algorithms(matrices.sides(), false)) {
      if (multiply(algorithm) && matrices.wrong() == 0) algorithms.push_back(algorithm);
    }
    const int best = fastest(algorithms.size(), [&](int i) { multiply(algorithms[i]); });
    // The two alternate, because the clock depends on the temperature, and thus on what has run before.
    std::vector<double> ours, theirs;
    for (int round = 0; round < (best < 0 ? 1 : kRounds); ++round) {
      if (best >= 0) theirs.push_back(tflops(n, sustained_seconds([&] { multiply(algorithms[best]); }, kRoundBudget)));
      ours.push_back(tflops(n, sustained_seconds([&] { launch(rung, matrices); }, kRoundBudget)));
    }
    std::printf("%-6d %-25s  %#9.4g", n, rung.name, median(ours));
    if (best < 0) {
      std::printf("          -      -\n");
    } else {
      std::printf("  %#9.4g  %5.3f\n", median(theirs), median(ours) / median(theirs));
    }
    return true;
  }

  cu::Module module_{cu::image("kernels.ptx")};
  CublasLt library_;
  const int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  int n_ = 0;
};

int main(int argc, char** argv) try {
  cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major < 8) {
    std::printf("skipped: mma with bfloat16 needs compute capability 8.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  Ladder ladder;
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    ladder.measure_controls();
    return 0;
  }
  if (argc > 2 && std::strcmp(argv[1], "--verify") == 0) return ladder.verify(std::atoi(argv[2])) ? 0 : 1;
  if (argc > 2 && std::strcmp(argv[1], "--profile") == 0) {
    ladder.profile(std::atoi(argv[2]));
    return 0;
  }
  const bool right = ladder.climb(context.device);
  return ladder.compare_sizes() && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
