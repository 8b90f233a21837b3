// Schedules that keep the tensor cores of compute capability 9.0 busy, step by step. Each kernel is verified, then
// timed with random normals. A second table compares the fastest kernel for each product with cublasLt.
//   --controls   measures variants that leave something out
//   --verify N   verifies each kernel for n = N
//   --profile N  launches each kernel once for n = N, for a profiler
#include "04-kernels/library.hpp"
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "launcher.hpp"

#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

constexpr int kLongestBar = 20;         // characters
constexpr int kSmallest = 512;          // the matrices of the first table have at least this side,
constexpr int kLargest = 8192;          // and at most this one
constexpr double kBudget = 0.6;         // seconds of measurement per kernel
constexpr int kShortRounds = 3;
constexpr double kShortBudget = 0.06;   // per candidate and per algorithm of cublasLt
constexpr int kRounds = 7;              // then the best of both alternate
constexpr double kRoundBudget = 0.1;
constexpr double kGraphSeconds = 1e-3;  // of work in a graph
constexpr int kMultiplyAdds = 2048;     // of bfloat16, per cycle of a multiprocessor of compute capability 9.0

// A product for the second table. `transposed`: x · wᵀ, with w stored as the weights of a linear layer are.
struct Problem {
  Sides sides;
  bool transposed;
};
constexpr Problem square(int n, bool transposed = false) { return {{n, n, n}, transposed}; }
constexpr Problem kProblems[] = {
    square(512),
    square(1024),
    square(2048),
    square(4096),
    square(8192),
    square(16384),
    square(1024, true),
    square(2048, true),
    square(4096, true),
    square(8192, true),
    square(16384, true),
    {{16, 4096, 14336}, true},
    {{64, 4096, 14336}, true},
    {{16, 14336, 4096}, true},
    {{64, 14336, 4096}, true},
};
// The same for a device that is too slow for these.
constexpr Problem kSmallProblems[] = {square(256), square(256, true), {{16, 256, 512}, true}, {{64, 256, 512}, true}};

double operations(Sides sides) { return 2.0 * sides.rows * sides.columns * sides.inner; }

// Operations per byte that the blocks load into shared memory. A box that is loaded for a whole cluster counts once.
double intensity(const Rung& rung) {
  const double elements = rung.rows + static_cast<double>(rung.columns) / rung.cluster;  // per product of each sum
  return 2.0 * rung.rows * rung.columns / (2 * elements);
}

class Ladder {
 public:
  // Returns whether all results were right.
  bool climb(CUdevice device) {
    char name[100];
    CU_CHECK(cuDeviceGetName(name, sizeof name, device));
    n_ = side();
    Matrices matrices(module_, n_);
    std::vector<unsigned> wrong(std::size(kLadder));
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      for (const Rung& rung : kLadder) wrong[&rung - kLadder] += launcher_.wrong_elements(rung, matrices);
    }
    std::printf("%s, %d x %d bfloat16, random normals\n\n", name, n_, n_);
    std::printf("kernel       what changed                    FLOP/byte    TFLOP/s    GHz  busy\n");
    for (const Rung& rung : kLadder) {
      std::printf("%-12s %-30s", rung.name, rung.idea);
      if (wrong[&rung - kLadder] > 0) {
        std::printf("  WRONG: not timed\n");
        continue;
      }
      std::printf("  %9.1f", intensity(rung));
      const Speed speed = measured(rung, matrices);
      std::printf("  %#9.4g  %5.3f  %4.2f %s\n", speed.tflops, speed.gigahertz, speed.busy,
                  cu::bar(speed.busy, 1, kLongestBar).c_str());
    }
    return std::count(wrong.begin(), wrong.end(), 0u) == static_cast<std::ptrdiff_t>(wrong.size());
  }

  // For each product, the fastest candidate next to the fastest algorithm of cublasLt.
  bool compare_products() {
    std::printf("\nproduct                 tile of a block             TFLOP/s   cublasLt  ratio\n");
    bool right = true;
    const bool slow = n_ < kSmallest;
    const Problem* const problems = slow ? kSmallProblems : kProblems;
    for (std::size_t i = 0; i < (slow ? std::size(kSmallProblems) : std::size(kProblems)); ++i) {
      right &= compare(problems[i]);
    }
    return right;
  }

  void measure_controls() {
    n_ = side();
    Matrices matrices(module_, n_);
    std::printf("kernel       control run                      normals    GHz  busy   integers    GHz  busy\n");
    for (const Rung& rung : kControls) {
      std::printf("%-12s %-30s", rung.name, rung.idea);
      for (const Data data : {Data::kNormals, Data::kIntegers}) {
        matrices.fill(data);
        const Speed speed = measured(rung, matrices);
        std::printf("  %#9.4g  %5.3f  %4.2f", speed.tflops, speed.gigahertz, speed.busy);
      }
      std::printf("\n");
    }
    std::printf("\nside         launches overlap    do not, TFLOP/s\n");
    for (int n = kSmallest; n <= n_; n *= 2) {
      Matrices small(module_, n);
      small.fill(Data::kNormals);
      Rung rung = kCandidates[fastest(candidates(small), small)];
      const double with = tflops(rung, small, kBudget);
      rung.overlaps = false;
      std::printf("%-12d %#16.4g  %#17.4g\n", n, with, tflops(rung, small, kBudget));
    }
  }

  bool verify(int n) {
    unsigned wrong = 0;
    const auto check = [&](const Rung& rung, Matrices& matrices) {
      if (!Launcher::fits(rung, matrices)) return;
      const unsigned count = launcher_.wrong_elements(rung, matrices);
      if (count > 0) std::printf("%s: %u elements are wrong\n", rung.kernel, count);
      wrong += count;
    };
    const Problem problems[] = {square(n), square(n, true), {{16, n, n}, true}, {{10, n, n}, true}, {{64, n, n}, true}};
    for (const Problem& problem : problems) {
      Matrices matrices(module_, problem.sides, problem.transposed);
      for (const Data data : {Data::kIntegers, Data::kNormals}) {
        matrices.fill(data);
        for (const Rung& rung : kLadder) check(rung, matrices);
        for (const Rung& rung : kCandidates) check(rung, matrices);
      }
    }
    std::printf("%d x %d: %s\n", n, n, wrong == 0 ? "all elements are right" : "WRONG");
    return wrong == 0;
  }

  // Launches each kernel once.
  void profile(int n, bool controls) {
    Matrices matrices(module_, n);
    matrices.fill(Data::kNormals);
    for (const Rung& rung : kLadder) launcher_.launch(rung, matrices);
    if (controls) {
      for (const Rung& rung : kControls) launcher_.launch(rung, matrices);
    }
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  struct Speed {
    double tflops, gigahertz;
    double busy;  // the share of the tensor cores' multiply-adds at this clock rate
  };
  Speed measured(const Rung& rung, const Matrices& matrices) const {
    const auto [seconds, clock] = pace(module_, [&] { launcher_.launch(rung, matrices); }, kBudget);
    const double speed = operations(matrices.sides()) / seconds / 1e12;
    return {speed, clock, speed * 1e3 / (2.0 * kMultiplyAdds * launcher_.multiprocessors() * clock)};
  }

  // The time of one execution of `work`, which gets a stream, in a graph that repeats it.
  static double seconds_in_graph(const std::function<void(CUstream)>& work, double budget) {
    const double once = cu::median_device_seconds([&] { work(nullptr); }, 3);
    const int times = static_cast<int>(std::clamp(kGraphSeconds / once, 1.0, 50.0));
    const Repeated graph(times, work);
    return sustained_seconds([&] { graph.launch(); }, budget) / times;
  }
  double tflops(const Rung& rung, const Matrices& matrices, double budget) const {
    return operations(matrices.sides()) /
           seconds_in_graph([&](CUstream stream) { launcher_.launch(rung, matrices, stream); }, budget) / 1e12;
  }
  double tflops(const CublasLt::Algorithm& algorithm, const Matrices& matrices, double budget) const {
    return operations(matrices.sides()) /
           seconds_in_graph([&](CUstream stream) { library_.multiply(matrices, algorithm, stream); }, budget) / 1e12;
  }

  // Returns the side of the first table's matrices, for which a kernel takes at least a millisecond on this device.
  int side() const {
    for (int n = 256;; n *= 2) {
      if (n == kLargest) return n;
      Matrices trial(module_, n);
      trial.fill(Data::kNormals);
      if (cu::median_device_seconds([&] { launcher_.launch(kLadder[0], trial); }, 1) > 1e-3) return n;
    }
  }

  // Returns the indices of the candidates that can compute this product.
  std::vector<int> candidates(const Matrices& matrices) const {
    std::vector<int> found;
    for (const Rung& rung : kCandidates) {
      if (Launcher::fits(rung, matrices)) found.push_back(static_cast<int>(&rung - kCandidates));
    }
    if (n_ < kSmallest) found.resize(1);
    return found;
  }
  // In several rounds, because the clock depends on the temperature, and thus on what has run before.
  int fastest(const std::vector<int>& candidates, const Matrices& matrices) const {
    int best = candidates[0];
    double highest = 0;
    std::map<int, std::vector<double>> speeds;
    for (int round = 0; candidates.size() > 1 && round < kShortRounds; ++round) {
      for (const int candidate : candidates) {
        speeds[candidate].push_back(tflops(kCandidates[candidate], matrices, kShortBudget));
      }
    }
    for (const auto& [candidate, measured] : speeds) {
      if (const double speed = median(measured); speed > highest) highest = speed, best = candidate;
    }
    return best;
  }

  // Returns the index of the fastest algorithm of cublasLt that computes the right result; -1 if there is none.
  int fastest(const std::vector<CublasLt::Algorithm>& algorithms, Matrices& matrices) const {
    int best = -1;
    double highest = 0;
    for (const auto& algorithm : algorithms) {
      if (!library_.multiply(matrices, algorithm) || matrices.wrong() > 0) continue;
      const double speed = tflops(algorithm, matrices, kShortBudget);
      if (speed > highest) highest = speed, best = static_cast<int>(&algorithm - algorithms.data());
    }
    return best;
  }

  bool compare(const Problem& problem) {
    Matrices matrices(module_, problem.sides, problem.transposed);
    matrices.fill(Data::kNormals);
    const Rung& rung = kCandidates[fastest(candidates(matrices), matrices)];
    const auto [rows, columns, inner] = problem.sides;
    char name[30];
    std::snprintf(name, sizeof name, "%d x %d x %d%s", rows, inner, columns, problem.transposed ? " t" : "");
    std::printf("%-22s  %-25s", name, rung.name);
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      matrices.fill(data);
      if (launcher_.wrong_elements(rung, matrices) == 0) continue;
      std::printf("  WRONG: not timed\n");
      return false;
    }
    const auto algorithms = library_.algorithms(problem.sides, problem.transposed);
    const int best = fastest(algorithms, matrices);
    // The two alternate, for the same reason.
    std::vector<double> ours, theirs;
    for (int round = 0; round < (best < 0 ? 1 : kRounds); ++round) {
      if (best >= 0) theirs.push_back(tflops(algorithms[best], matrices, kRoundBudget));
      ours.push_back(tflops(rung, matrices, kRoundBudget));
    }
    std::printf(" %#9.4g", median(ours));
    if (best < 0) {
      std::printf("          -      -\n");
    } else {
      std::printf("  %#9.4g  %5.3f\n", median(theirs), median(ours) / median(theirs));
    }
    return true;
  }

  cu::Module module_{cu::image("kernels.ptx")};
  Launcher launcher_{module_};
  CublasLt library_;
  int n_ = 0;
};

int main(int argc, char** argv) try {
  cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major != 9 || minor != 0) {
    std::printf("skipped: wgmma needs compute capability 9.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  Ladder ladder;
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    ladder.measure_controls();
    return 0;
  }
  if (argc > 2 && std::strcmp(argv[1], "--verify") == 0) return ladder.verify(std::atoi(argv[2])) ? 0 : 1;
  if (argc > 2 && std::strcmp(argv[1], "--profile") == 0) {
    ladder.profile(std::atoi(argv[2]), argc > 3);
    return 0;
  }
  return ladder.climb(context.device) && ladder.compare_products() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
