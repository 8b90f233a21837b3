// The gradients of attention on tensor cores, for compute capability 8.0 and later: with two kernels, or with one that
// uses atomics. All are verified against double precision, then timed with random normals.
//   --controls          measures parts of the kernels
//   --verify            only verifies small problems
//   --profile N HEADS   launches each kernel once, for N queries and keys and a profiler
//   --list              prints the kernels, for beside_torch.py
#include "04-kernels/attribute.hpp"
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "gradients.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <vector>

constexpr int kTokens = 16384;         // rows of q for each group of heads whose rows have kWidth elements together
constexpr int kWidth = 2048;           // a usual width of a model
constexpr double kBudget = 0.4;        // seconds of measurement per kernel
constexpr double kClockBudget = 0.1;   // to measure the clock rate
constexpr double kShortBudget = 0.01;  // both, on a slow device
constexpr int kFewRows = 64, kFewHeads = 1;

struct Kernel {
  const char* name;  // without the elements of a row; nullptr: there is no second kernel
  int rows, threads, bytes;
  bool of_keys;
};
template <class S>
constexpr Kernel kernel(const char* name, bool of_keys) {
  return {name, S::kRows, kThreads<S>, kSharedBytes<S>, of_keys};
}
struct Rung {
  const char *name, *idea;
  Kernel first, second;
  bool coalesced;  // the sums of the gradient of q; otherwise, they are stored by rows
  bool has_sums() const { return second.name == nullptr; }
  int bytes() const { return std::max(first.bytes, second.bytes); }
};
constexpr Kernel kNone = {nullptr, 0, 0, 0, false};

template <int kD>
constexpr Kernel kByQueries = kernel<ByQueries<kD>>("by_queries", false);
template <int kD>
constexpr Rung kPairs = {"pairs", "coalesced, pairs of warps", kernel<Pairs<kD>>("pairs", true), kNone, true};
template <int kD>
constexpr Rung kPairsFixed = {"pairs_fixed", "two_kernels, pairs of warps", kernel<PairsFixed<kD>>("pairs_fixed", true),
                              kByQueries<kD>, false};
constexpr Rung kAtomics = {"atomics", "five products, atomics", kernel<Atomics<128>>("atomics", true), kNone, false};

std::vector<Rung> rungs(int head) {
  if (head == 64) return {kPairs<64>, kPairsFixed<64>};
  return {kAtomics,
          {"two_kernels", "seven products, no atomics", kernel<ByKeys<128>>("by_keys", true), kByQueries<128>, false},
          {"coalesced", "sums in the order of lanes", kernel<Coalesced<128>>("coalesced", true), kNone, true},
          kPairs<128>,
          kPairsFixed<128>};
}
// The rungs in the table of sizes: the fastest with atomics, and without.
std::vector<Rung> fastest(int head) {
  const std::vector<Rung> all = rungs(head);
  return {all.end() - 2, all.end()};
}

// Variants of the rungs that leave something out.
constexpr Rung kControls[] = {
    {"two_kernels", "k and v alone, four products", kernel<ByKeys<128>>("by_keys", true), kNone, false},
    {"two_kernels", "q alone, three products", kByQueries<128>, kNone, false},
    {"pairs_fixed", "k and v alone, four products", kernel<PairsFixed<128>>("pairs_fixed", true), kNone, false},
    kAtomics,
    {"atomics", "no additions", kernel<Atomics<128>>("atomics_no_additions", true), kNone, false},
    {"atomics", "only additions", kernel<Atomics<128>>("atomics_only_additions", true), kNone, false},
    {"coalesced", "only additions", kernel<Coalesced<128>>("coalesced_only_additions", true), kNone, true},
    kPairs<128>,
    {"pairs", "no additions", kernel<Pairs<128>>("pairs_no_additions", true), kNone, true},
};

// Heads, group, queries, keys, elements of a row, and whether causal: whole tiles, ragged ones, one row more or less
// than a tile, rows without keys, larger scores, no keys at all, no rows at all, and large scores.
constexpr Size kProblems[] = {
    {1, 1, 128, 128, 128, false},  {2, 2, 33, 72, 128, true}, {1, 1, 129, 127, 128, false},
    {1, 1, 63, 193, 128, true, 4}, {1, 1, 1, 1, 128, false},  {1, 1, 65, 1, 128, true},
    {1, 1, 5, 0, 128, false},      {1, 1, 0, 5, 128, true},   {1, 1, 64, 65, 128, false, 30},
};

class Ladder {
 public:
  // Verifies all gradients of small problems, and those with grouped heads also in a graph.
  bool verify() const {
    int problems = 0, wrong = 0;
    for (Size size : kProblems) {
      for (const int head : {64, 128}) {
        size.head = head;
        const GradientProblem problem(module_, size);
        ++problems;
        for (const Rung& rung : rungs(head)) {
          if (!fits(rung)) continue;
          wrong += !is_right(rung, problem) || (size.group > 1 && !is_right_in_graph(rung, problem));
        }
      }
    }
    if (wrong == 0)
      std::printf("%d small problems: all gradients are right, with grouped heads also in a graph\n", problems);
    return wrong == 0;
  }

  bool climb() const {
    const GradientProblem problem(module_, sized(128, is_fast_ ? 8192 : kFewRows, false));
    std::printf("heads: %d, queries and keys: %d, elements of a row: 128\n", problem.size().heads,
                problem.size().queries);
    std::printf("\nrung           what is new                    TFLOP/s    GHz    error  different results\n");
    bool right = true;
    for (const Rung& rung : rungs(128)) {
      if (!fits(rung)) continue;
      launch(rung, problem);
      const GradientProblem::Comparisons found = problem.compare();
      right &= found.wrong() == 0;
      std::printf("%-14s %-28s", rung.name, rung.idea);
      if (found.wrong() > 0) {
        std::printf("  WRONG: not timed\n");
        continue;
      }
      std::printf(" %#9.4g  %5.3f  %.5f  %zu of %d\n", speed(rung, problem), clock(rung, problem), found.relative(),
                  different(rung), repetitions());
    }
    return right;
  }

  bool compare_sizes() const {
    std::printf("\nrung           elements  queries       full     causal, TFLOP/s\n");
    for (const int head : {64, 128}) {
      for (const int n : is_fast_ ? std::vector<int>{2048, 4096, 8192, 16384} : std::vector<int>{kFewRows}) {
        const GradientProblem full(module_, sized(head, n, false)), causal(module_, sized(head, n, true));
        for (const Rung& rung : fastest(head)) {
          if (!fits(rung)) continue;
          for (const GradientProblem* problem : {&full, &causal}) {
            launch(rung, *problem);
            if (problem->compare().wrong() == 0) continue;
            std::printf("%-14s %-9d %-8d  WRONG: not timed\n", rung.name, head, n);
            return false;
          }
          const double of_full = speed(rung, full), of_causal = speed(rung, causal);
          std::printf("%-14s %-9d %-8d %#9.4g  %#9.4g\n", rung.name, head, n, of_full, of_causal);
        }
      }
    }
    return true;
  }

  void measure_controls() const {
    const GradientProblem problem(module_, sized(128, is_fast_ ? 8192 : kFewRows, false));
    std::printf("rung           control run                       ms    GHz\n");
    for (const Rung& rung : kControls) {
      if (!fits(rung)) continue;
      const double seconds = operations(problem.size()) * 2.5e-12 / speed(rung, problem);
      std::printf("%-14s %-28s %#7.4g  %5.3f\n", rung.name, rung.idea, 1e3 * seconds, clock(rung, problem));
    }
  }

  void profile(int n, int heads) const {
    const GradientProblem problem(module_, {heads, 1, n, n, 128, false});
    for (const Rung& rung : rungs(128)) {
      if (fits(rung)) launch(rung, problem);
    }
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  Size sized(int head, int n, bool causal) const {
    return {is_fast_ ? kTokens / n * (kWidth / head) : kFewHeads, 1, n, n, head, causal};
  }
  // Whether a block of the rung's kernels has enough shared memory on this device.
  bool fits(const Rung& rung) const { return rung.bytes() <= shared_bytes_; }
  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const GradientProblem trial(module_, {kFewHeads, 1, kFewRows, kFewRows, 64, false});
    return cu::median_device_seconds([&] { launch(kPairsFixed<64>, trial); }, 1) < 1e-3;
  }

  void launch(const Rung& rung, const GradientProblem& problem, CUstream stream = nullptr) const {
    const Size& size = problem.size();
    Attention attention = problem.attention();
    Gradients gradients = problem.gradients();
    bool coalesced = rung.coalesced;
    if (!rung.has_sums()) gradients.sums = nullptr;
    void* arguments[] = {&attention, &gradients, &coalesced};  // the driver copies them; only `convert` uses the last
    const auto run = [&](const char* name, unsigned x, int y, int threads, int bytes) {
      if (x == 0) return;  // a grid of no blocks is an error
      const CUfunction function = module_.function((std::string(name) + "_" + std::to_string(size.head)).c_str());
      CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
      CU_CHECK(cuLaunchKernel(function, x, y, 1, threads, 1, 1, bytes, stream, arguments, nullptr));
    };
    run("prepare", gradients.pitch / kRowsOfPrepare, size.heads, 32 * kRowsOfPrepare, 0);
    for (const Kernel& kernel : {rung.first, rung.second}) {
      if (kernel.name == nullptr) continue;
      const int rows = kernel.of_keys ? size.keys : size.queries,
                heads = size.heads / (kernel.of_keys ? size.group : 1);
      run(kernel.name, (rows + kernel.rows - 1) / kernel.rows, heads, kernel.threads, kernel.bytes);
    }
    if (rung.has_sums()) run("convert", gradients.pitch / kRowsOfConvert, size.heads, 2 * kRowsOfConvert, 0);
  }

  double speed(const Rung& rung, const GradientProblem& problem) const {
    const double seconds = sustained_seconds([&] { launch(rung, problem); }, is_fast_ ? kBudget : kShortBudget);
    return 2.5 * operations(problem.size()) / seconds / 1e12;
  }
  double clock(const Rung& rung, const GradientProblem& problem) const {
    return gigahertz(module_, [&] { launch(rung, problem); }, is_fast_ ? kClockBudget : kShortBudget);
  }

  int repetitions() const { return is_fast_ ? 10 : 2; }
  // How many different results the same problem has.
  std::size_t different(const Rung& rung) const {
    const int n = is_fast_ ? 1024 : kFewRows;
    const GradientProblem problem(module_, {1, 1, n, n, 128, false});
    std::set<std::vector<char>> results;
    for (int i = 0; i < repetitions(); ++i) launch(rung, problem), results.insert(problem.bits());
    return results.size();
  }

  bool is_right(const Rung& rung, const GradientProblem& problem) const {
    launch(rung, problem);
    return report(rung, problem, problem.compare().wrong(), "");
  }
  // Without atomics, the bits must be the same as those of a launch without a graph.
  bool is_right_in_graph(const Rung& rung, const GradientProblem& problem) const {
    launch(rung, problem);
    const std::vector<char> bits = problem.bits();
    problem.compare();  // clears the results
    Repeated(1, [&](CUstream stream) { launch(rung, problem, stream); }).launch();
    const bool same = rung.has_sums() || problem.bits() == bits;
    if (!same) std::printf("WRONG: %s: other bits in a graph\n", rung.name);
    return report(rung, problem, problem.compare().wrong(), ", in a graph") && same;
  }
  static bool report(const Rung& rung, const GradientProblem& problem, unsigned wrong, const char* where) {
    const Size& size = problem.size();
    if (wrong == 0) return true;
    std::printf("WRONG: %s, %d x %d rows of %d elements%s%s%s: %u results\n", rung.name, size.queries, size.keys,
                size.head, size.causal ? ", causal" : "", size.factor > 1 ? ", large scores" : "", where, wrong);
    return false;
  }

  const cu::Module module_{cu::image("kernels.ptx")};
  const int shared_bytes_ = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  const bool is_fast_ = measure_whether_fast();
};

int main(int argc, char** argv) try {
  const cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major < 8) {
    std::printf("skipped: mma with bfloat16 needs compute capability 8.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--list") {
    for (const int head : {64, 128}) {
      for (const Rung& rung : rungs(head)) {
        for (const Kernel& kernel : {rung.first, rung.second}) {
          if (kernel.name == nullptr) continue;
          std::printf("%d %s %d %s %d %d %d\n", head, rung.name, rung.coalesced, kernel.name, kernel.rows,
                      kernel.threads, kernel.bytes);
        }
      }
    }
    return 0;
  }
  const Ladder ladder;
  if (mode == "--controls") {
    ladder.measure_controls();
    return 0;
  }
  if (mode == "--profile" && argc > 3) {
    ladder.profile(std::atoi(argv[2]), std::atoi(argv[3]));
    return 0;
  }
  if (mode == "--verify") return ladder.verify() ? 0 : 1;
  cu::print_device(context.device);
  const bool right = ladder.verify();
  return ladder.climb() && ladder.compare_sizes() && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
