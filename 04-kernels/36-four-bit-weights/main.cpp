// Products with weights of four bits, one idea after the other, for compute capability 8.0 and later. Each kernel is
// verified against double precision, then timed in turn with the others and with cublasLt in bfloat16.
//   --verify      only verifies small problems
//   --ladder      prints only the first table
//   --controls    measures the last kernel also without its products
//   --profile M ROWS COLUMNS [BLOCKS]   launches each kernel once, for a profiler: M rows of x, weights of
//                                       this size, and at most BLOCKS blocks
#include "04-kernels/library.hpp"
#include "04-kernels/repeated.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "problem.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

constexpr int kLongestBar = 20;  // characters
constexpr int kCopies = 8;       // of the weights: together larger than the L2 cache
constexpr int kRounds = 5;       // in which all kernels alternate
constexpr int kLaunches = 16, kRuns = 20;  // in a graph; of the graph in each round

constexpr Rung kLadder[] = {
    rung<Convert>("convert", "each weight is converted"),
    rung<Lop3>("lop3", "two weights at once, by lop3"),
    rung<LateScale>("late_scale", "sums are scaled, not weights"),
    rung<Shuffled>("shuffled", "weights in the lanes' order"),
    rung<Folded>("folded", "sums begin with -136 * sum(x)"),
    rung<Ahead>("ahead", "the next tile is loaded before"),
    rung<Overlapped>("overlapped", "the next kernel starts early"),
};
constexpr Rung kControls[] = {
    rung<Overlapped>("overlapped", "overlapped"),
    rung<OnlyLoadsOverlapped>("only_loads_overlapped", "overlapped, without the products"),
};

// One tile and idle warps; some blocks have one tile more; a block with several tiles; two splits, one of them with a
// strip more.
constexpr Shape kProblems[] = {{1, 16, 256}, {8, 48, 512, 2}, {16, 96, 512, 1}, {3, 32, 4352, 2}};

class Ladder {
 public:
  explicit Ladder(int major) : major_(major), kernels_(loaded(major)) {}

  // Verifies every kernel with small problems, also in a graph. Returns whether all results were right.
  bool verify() const {
    int wrong = 0;
    for (const Shape& shape : kProblems) {
      const Problem problem(kernels_, shape, 1);
      for (const Rung& rung : usable(kLadder)) wrong += !is_right(rung, problem);
    }
    if (wrong == 0) {
      std::printf("%zu small problems: all results are right, and have the same bits in a graph\n",
                  std::size(kProblems));
    }
    return wrong == 0;
  }

  // Every kernel, for three numbers of rows of x.
  bool climb() {
    Problem problem(kernels_, large(16), copies());
    constexpr std::size_t kCount = std::size(kLadder);
    std::vector<std::vector<double>> times(kCount + 1);
    for (const int m : {1, 8, 16}) {
      problem.use_rows(m);
      const std::vector<double> measured = measure(problem, {std::begin(kLadder), std::end(kLadder)});
      for (std::size_t i = 0; i < times.size(); ++i) times[i].push_back(measured[i]);
    }
    const Shape& shape = problem.shape();
    std::printf("weights: %d x %d, microseconds\n\n", shape.rows, shape.columns);
    std::printf("kernel      what changed            rows of x:      1      8     16   of cublasLt\n");
    bool right = true;
    for (std::size_t i = 0; i <= kCount; ++i) {
      const bool is_library = i == kCount;
      std::printf("%-11s %-31s", is_library ? "(cublasLt)" : kLadder[i].name,
                  is_library ? "in bfloat16" : kLadder[i].idea);
      for (const double time : times[i]) print_time(time), right &= time >= 0;
      const double ratio = times[i].back() > 0 ? times[kCount].back() / times[i].back() : 0;
      if (ratio > 0 && !is_library) std::printf("   %5.2f %s", ratio, cu::bar(ratio, 4, kLongestBar).c_str());
      std::printf("\n");
    }
    return right;
  }

  // The last kernel, for several sizes.
  bool compare_sizes() {
    bool right = true;
    const Rung last = usable(kLadder).back();
    std::printf("\n   rows  columns  rows of x  %10s  cublasLt  ratio    GB/s\n", last.name);
    const auto compare = [&](int rows, int columns, const std::vector<int>& counts) {
      Problem problem(kernels_, {counts.front(), rows, columns}, copies());
      for (const int m : counts) {
        problem.use_rows(m);
        const std::vector<double> times = measure(problem, {last});
        std::printf("%7d %8d  %9d     ", rows, columns, m);
        print_time(times[0]), std::printf("   "), print_time(times[1]);
        std::printf("  %5.2f  %6.0f\n", times[1] / times[0], problem.shape().bytes() / times[0] / 1e9);
        right &= times[0] > 0;
      }
    };
    if (!is_fast_) {
      compare(16, 4352, {3});
      return right;
    }
    for (const auto& [rows, columns] : {std::pair{14336, 4096}, {4096, 14336}, {4096, 4096}, {28672, 8192}}) {
      compare(rows, columns, {1, 2, 4, 8, 16});
    }
    return right;
  }

  void measure_controls() const {
    std::printf("microseconds                       rows of x:      1      8     16\n");
    Problem problem(kernels_, large(16), copies());
    for (const Rung& rung : usable(kControls)) {
      std::printf("%-44s", rung.idea);
      for (const int m : {1, 8, 16}) {
        problem.use_rows(m);
        print_time(seconds(*repeated(rung, problem), kRounds * kRuns));
      }
      std::printf("\n");
    }
  }

  void profile(const Shape& shape) const {
    const Problem problem(kernels_, shape, 1);
    for (const Rung& rung : usable(kLadder)) problem.launch(rung);
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  static Kernels loaded(int major) {
    return {cu::Module(cu::image("kernels.ptx")), major >= 9 ? cu::Module(cu::image("overlapped.ptx")) : cu::Module()};
  }
  bool fits(const Rung& rung) const { return major_ >= 9 || !rung.overlaps; }
  template <std::size_t kCount>
  std::vector<Rung> usable(const Rung (&rungs)[kCount]) const {
    std::vector<Rung> found;
    std::copy_if(rungs, rungs + kCount, std::back_inserter(found), [&](const Rung& rung) { return fits(rung); });
    return found;
  }
  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const Problem trial(kernels_, {16, 512, 512}, 1);
    return cu::median_device_seconds([&] { trial.launch(kLadder[0]); }, 1) < 1e-3;
  }
  Shape large(int m) const { return is_fast_ ? Shape{m, 14336, 4096} : Shape{m, 32, 512}; }
  int copies() const { return is_fast_ ? kCopies : 1; }

  static void print_time(double seconds) {
    if (seconds > 0) {
      std::printf(" %6.2f", seconds * 1e6);
    } else {
      std::printf(" %6s", seconds < 0 ? "WRONG" : "-");
    }
  }

  int launches() const { return is_fast_ ? kLaunches : 1; }
  std::unique_ptr<Repeated> repeated(const Rung& rung, const Problem& problem) const {
    return std::make_unique<Repeated>(launches(), [&, copy = 0](CUstream stream) mutable {
      problem.launch(rung, copy++ % problem.copies(), stream);
    });
  }
  // The median time of one of the graph's launches.
  double seconds(const Repeated& graph, int runs) const {
    return cu::median_device_seconds([&] { graph.launch(); }, is_fast_ ? runs : 1) / launches();
  }
  // The median times of graphs that alternate; 0 for a null pointer.
  std::vector<double> alternate(const std::vector<std::unique_ptr<Repeated>>& works) const {
    std::vector<std::vector<double>> found(works.size());
    for (int round = 0; round < (is_fast_ ? kRounds : 1); ++round) {
      for (std::size_t i = 0; i < works.size(); ++i) {
        found[i].push_back(works[i] == nullptr ? 0 : seconds(*works[i], kRuns));
      }
    }
    std::vector<double> medians;
    for (auto& times : found) {
      std::sort(times.begin(), times.end());
      medians.push_back(times[times.size() / 2]);
    }
    return medians;
  }

  // The times of the kernels and of cublasLt. They are 0 for kernels that this device cannot run, and if there is no
  // library; and negative for kernels whose results are wrong.
  std::vector<double> measure(const Problem& problem, const std::vector<Rung>& rungs) {
    std::vector<std::unique_ptr<Repeated>> works(rungs.size() + 1);
    std::vector<bool> wrong(works.size());
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      if (!fits(rungs[i])) continue;
      wrong[i] = !is_right(rungs[i], problem);
      if (!wrong[i]) works[i] = repeated(rungs[i], problem);
    }
    if (const CublasLt::Algorithm* const best = fastest(problem)) {
      works.back() = std::make_unique<Repeated>(launches(), [&, copy = 0](CUstream stream) mutable {
        multiply(problem, *best, copy++ % problem.copies(), stream);
      });
    }
    std::vector<double> times = alternate(works);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (wrong[i]) times[i] = -1;
    }
    return times;
  }

  bool multiply(const Problem& problem, const CublasLt::Algorithm& algorithm, int copy, CUstream stream) const {
    return library_.multiply(problem.x(), problem.full(copy), problem.y(), algorithm, stream);
  }
  // The library's fastest algorithm of those whose results are right.
  const CublasLt::Algorithm* fastest(const Problem& problem) {
    const Shape& shape = problem.shape();
    algorithms_ = library_.algorithms({shape.m, shape.rows, shape.columns}, true);
    const CublasLt::Algorithm* best = nullptr;
    double shortest = 0;
    for (const CublasLt::Algorithm& algorithm : algorithms_) {
      if (!multiply(problem, algorithm, 0, nullptr) || problem.wrong(true) > 0) continue;
      int copy = 0;
      const double time = cu::median_device_seconds(
          [&] {
            for (int i = 0; i < kLaunches; ++i) multiply(problem, algorithm, copy++ % problem.copies(), nullptr);
          },
          5);
      if (best == nullptr || time < shortest) shortest = time, best = &algorithm;
    }
    return best;
  }

  // Whether y is right, has no more rows than x, and the same bits in a graph.
  bool is_right(const Rung& rung, const Problem& problem) const {
    const Shape& shape = problem.shape();
    problem.clear();
    problem.launch(rung);
    const std::vector<char> bits = problem.bits();
    const unsigned wrong = problem.wrong(rung.rounded);
    const bool untouched = std::all_of(bits.begin() + std::ptrdiff_t{2} * shape.m * shape.rows, bits.end(),
                                       [](char byte) { return byte == '\xff'; });
    Repeated(1, [&](CUstream stream) { problem.launch(rung, 0, stream); }).launch();
    const bool same = problem.bits() == bits;
    if (wrong == 0 && same && untouched) return true;
    std::printf("WRONG: %s, %d x %d weights, %d rows of x: ", rung.name, shape.rows, shape.columns, shape.m);
    std::printf(wrong > 0 ? "%u results\n" : same ? "more rows than x\n" : "other bits in a graph\n", wrong);
    return false;
  }

  const int major_;
  const Kernels kernels_;
  const bool is_fast_ = measure_whether_fast();
  CublasLt library_;
  std::vector<CublasLt::Algorithm> algorithms_;
};

int main(int argc, char** argv) try {
  const cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major < 8) {
    std::printf("skipped: mma with bfloat16 needs compute capability 8.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  Ladder ladder(major);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--controls") {
    ladder.measure_controls();
    return 0;
  }
  if (mode == "--profile" && argc > 4) {
    const Shape shape{std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]), argc > 5 ? std::atoi(argv[5]) : 0};
    if (shape.m < 1 || shape.m > kMostRows || shape.rows < kTile || shape.rows % kTile != 0 || shape.columns < kStrip ||
        shape.columns % kStrip != 0) {
      std::fprintf(stderr, "x must have 1 to %d rows, and the weights a multiple of %d rows and of %d columns.\n",
                   kMostRows, kTile, kStrip);
      return 1;
    }
    ladder.profile(shape);
    return 0;
  }
  if (mode == "--verify") return ladder.verify() ? 0 : 1;
  cu::print_device(context.device);
  const bool right = ladder.verify();
  if (mode == "--ladder") return ladder.climb() && right ? 0 : 1;
  return ladder.climb() && ladder.compare_sizes() && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
