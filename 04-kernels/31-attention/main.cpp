// Attention on tensor cores, one idea after the other, for compute capability 8.0 and later. Each kernel is verified
// against double precision, then timed with random normals.
//   --controls          measures variants that leave something out
//   --verify            only verifies small problems
//   --profile N HEADS   launches each kernel once, for N queries and keys and a profiler
//   --list              prints the kernels of the last table, for beside_torch.py
#include "04-kernels/attention_problem.hpp"
#include "04-kernels/attribute.hpp"
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

constexpr int kLongestBar = 20;        // characters
constexpr int kTokens = 16384;         // rows of q for each group of heads whose rows have kWidth elements together
constexpr int kWidth = 2048;           // a usual width of a model
constexpr double kBudget = 0.4;        // seconds of measurement per kernel
constexpr double kClockBudget = 0.1;   // to measure the clock rate
constexpr double kShortBudget = 0.01;  // both, on a slow device
constexpr int kFewRows = 128, kFewHeads = 2;

struct Rung {
  const char *name, *kernel, *idea;
  int head, rows, threads, bytes;  // elements of a row; rows, threads and shared memory of a block
};
template <class S>
constexpr Rung rung(const char* name, const char* kernel, const char* idea = "") {
  return {name, kernel, idea, S::kHead, S::kRows, kThreads<S>, kSharedBytes<S>};
}

constexpr Rung kUnfused = rung<Fused<128>>("unfused", nullptr, "three kernels");
constexpr Rung kBest[] = {rung<Lazy<64>>("lazy", "lazy_64"), rung<Lazy<128>>("lazy", "lazy_128")};

constexpr Rung kLadder[] = {
    kUnfused,
    rung<Fused<128>>("fused", "fused_128", "one kernel, scores on the chip"),
    rung<Registers<128>>("registers", "registers_128", "weights stay in registers"),
    rung<Exp2<128>>("exp2", "exp2_128", "powers of two"),
    rung<Ahead<128>>("ahead", "ahead_128", "next tiles are copied ahead"),
    rung<Twice<128>>("twice", "twice_128", "fragments are used twice"),
    rung<Lazy<128>>("lazy", "lazy_128", "sums are rescaled if needed"),
};
constexpr Rung kCausal[] = {
    rung<AllTiles<128>>("all_tiles", "all_tiles_128", "all tiles are computed"),
    rung<Skips<128>>("skips", "skips_128", "masked tiles are skipped"),
    rung<Lazy<128>>("lazy", "lazy_128", "longest rows come first"),
};
constexpr Rung kOnlyProducts = rung<OnlyProducts<128>>("products", "only_products_128", "neither");
constexpr Rung kControls[] = {
    rung<Lazy<128>>("lazy", "lazy_128", "for comparison"),
    rung<NoCopies<128>>("lazy", "no_copies_128", "no copies after the first"),
    rung<NoSoftmax<128>>("lazy", "no_softmax_128", "no softmax"),
    kOnlyProducts,
};

// Heads, group, queries, keys, elements of a row, and whether causal: whole tiles, ragged ones, one row more or less
// than a tile, rows without keys, larger scores, no keys at all, no rows at all, and scores whose exponentials are
// infinite.
constexpr Size kProblems[] = {
    {1, 1, 128, 128, 128, false},  {2, 2, 65, 72, 128, false}, {2, 2, 129, 127, 128, true},
    {1, 1, 63, 193, 128, true, 4}, {1, 1, 1, 1, 128, false},   {1, 1, 65, 1, 128, true},
    {1, 1, 5, 0, 128, false},      {1, 1, 0, 5, 128, true},    {1, 1, 64, 65, 128, false, 30},
};

class Ladder {
 public:
  // Verifies every kernel with small problems, also in a graph. Returns whether all results were right.
  bool verify() const {
    int problems = 0, wrong = 0;
    for (Size size : kProblems) {
      for (const int head : {64, 128}) {
        size.head = head;
        const Problem problem(module_, size);
        ++problems;
        for (const Rung& rung : all()) wrong += rung.head == head && !is_right(rung, problem);
      }
    }
    if (wrong == 0)
      std::printf("%d small problems: all results are right, and have the same bits in a graph\n", problems);
    return wrong == 0;
  }

  bool climb() const {
    const Problem full(module_, sized(128, rows_of_ladder(), false));
    const double most = speed(kOnlyProducts, full);
    const Size& size = full.size();
    std::printf("%d heads, %d queries and keys, rows of %d elements\n", size.heads, size.queries, size.head);
    std::printf("products alone: %#.4g TFLOP/s at %.3f GHz\n", most, clock(kOnlyProducts, full));
    bool right = table("full        what changed", {std::begin(kLadder), std::end(kLadder)}, full, most);
    const Problem causal(module_, sized(128, rows_of_ladder(), true));
    right &= table("causal      what changed", {std::begin(kCausal), std::end(kCausal)}, causal, most);
    return right;
  }

  // The last kernel for each size.
  bool compare_sizes() const {
    std::printf("\nelements  queries       full     causal, TFLOP/s\n");
    for (const Rung& rung : kBest) {
      for (const int n : is_fast_ ? std::vector<int>{2048, 4096, 8192, 16384} : std::vector<int>{kFewRows}) {
        double reached[2];
        for (const bool causal : {false, true}) {
          const Problem problem(module_, sized(rung.head, n, causal));
          if (!is_right(rung, problem)) return false;
          reached[causal] = speed(rung, problem);
        }
        std::printf("%-9d %-8d %#9.4g  %#9.4g\n", rung.head, n, reached[0], reached[1]);
      }
    }
    return true;
  }

  void measure_controls() const {
    const Problem problem(module_, sized(128, rows_of_ladder(), false));
    std::printf("kernel      control run                       TFLOP/s    GHz\n");
    for (const Rung& rung : kControls) {
      std::printf("%-11s %-31s %#9.4g  %5.3f\n", rung.name, rung.idea, speed(rung, problem), clock(rung, problem));
    }
  }

  void profile(int n, int heads) const {
    const Problem full(module_, {heads, 1, n, n, 128, false}), causal(module_, {heads, 1, n, n, 128, true});
    for (const Rung& rung : kLadder) {
      if (rung.kernel != nullptr) launch(rung, full);
    }
    for (const Rung& rung : kCausal) launch(rung, causal);
    launch(kUnfused, full);  // comes last, because a profiler saves and restores all memory for each kernel
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  static std::vector<Rung> all() {
    std::vector<Rung> found(std::begin(kLadder), std::end(kLadder));
    found.insert(found.end(), std::begin(kCausal), std::end(kCausal) - 1);
    found.push_back(kBest[0]);
    return found;
  }

  Size sized(int head, int n, bool causal) const {
    return {is_fast_ ? kTokens / n * (kWidth / head) : kFewHeads, 1, n, n, head, causal};
  }
  // At most 8192, and fewer if the scores of the unfused kernels, 6 bytes each, take more than half of the memory.
  int rows_of_ladder() const {
    if (!is_fast_) return kFewRows;
    std::size_t free, all;
    CU_CHECK(cuMemGetInfo(&free, &all));
    int n = 8192;
    while (n > 256 && std::size_t{6} * n * kTokens * (kWidth / 128) > free / 2) n /= 2;
    return n;
  }
  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const Problem trial(module_, {kFewHeads, 1, kFewRows, kFewRows, 128, false});
    return cu::median_device_seconds([&] { launch(kBest[1], trial); }, 1) < 1e-3;
  }

  void launch(const Rung& rung, const Problem& problem, CUstream stream = nullptr) const {
    Attention attention = problem.attention();
    if (attention.queries == 0) return;  // a grid of no blocks is an error
    void* arguments[] = {&attention, nullptr};  // the driver copies it
    const unsigned blocks = (attention.queries + rung.rows - 1) / rung.rows, heads = problem.size().heads;
    const auto run = [&](const std::string& kernel, unsigned x, unsigned y, unsigned z, int threads, int bytes) {
      const CUfunction function = module_.function(kernel.c_str());
      CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
      CU_CHECK(cuLaunchKernel(function, x, y, z, threads, 1, 1, bytes, stream, arguments, nullptr));
    };
    if (rung.kernel != nullptr) {
      run(rung.kernel, blocks, heads, 1, rung.threads, rung.bytes);
    } else {
      Unfused unfused = scratch(problem.size());
      arguments[1] = &unfused;
      const unsigned tiles = unfused.pitch / kUnfusedTile;
      if (tiles > 0) run("unfused_scores", tiles, blocks, heads, rung.threads, rung.bytes);
      run("unfused_softmax", attention.queries, heads, 1, kRowThreads, 0);
      run("unfused_output", blocks, heads, 1, rung.threads, rung.bytes);
    }
  }

  // Memory for the scores and weights of the unfused kernels. It is allocated once for each size.
  Unfused scratch(const Size& size) const {
    const int pitch = (size.keys + kUnfusedTile - 1) / kUnfusedTile * kUnfusedTile;
    const std::size_t count = std::size_t(size.heads) * size.queries * pitch + 1;
    if (count > scratch_) {
      weights_ = {}, scores_ = {};
      scores_ = cu::Memory(sizeof(float) * count), weights_ = cu::Memory(2 * count), scratch_ = count;
    }
    return {reinterpret_cast<float*>(scores_.address), reinterpret_cast<void*>(weights_.address), pitch};
  }

  double speed(const Rung& rung, const Problem& problem) const {
    const double seconds = sustained_seconds([&] { launch(rung, problem); }, is_fast_ ? kBudget : kShortBudget);
    return operations(problem.size()) / seconds / 1e12;
  }
  double clock(const Rung& rung, const Problem& problem) const {
    return gigahertz(module_, [&] { launch(rung, problem); }, is_fast_ ? kClockBudget : kShortBudget);
  }

  // Whether o and lse are right. For a small problem, also whether a launch in a graph computes the same bits.
  bool is_right(const Rung& rung, const Problem& problem) const {
    launch(rung, problem);
    const std::vector<char> bits = problem.bits();
    const unsigned wrong = problem.compare().wrong;
    bool same = true;
    if (!bits.empty()) {
      Repeated(1, [&](CUstream stream) { launch(rung, problem, stream); }).launch();
      same = problem.bits() == bits;
      problem.compare();
    }
    if (wrong > 0 || !same) {
      const Size& size = problem.size();
      std::printf("WRONG: %s, %d x %d rows of %d elements%s%s: ", rung.name, size.queries, size.keys, size.head,
                  size.causal ? ", causal" : "", size.factor > 1 ? ", large scores" : "");
      std::printf(wrong > 0 ? "%u results\n" : "other bits in a graph\n", wrong);
    }
    return wrong == 0 && same;
  }

  bool table(const char* title, const std::vector<Rung>& rungs, const Problem& problem, double most) const {
    std::printf("\n%-43s  TFLOP/s    GHz    error  of products alone\n", title);
    bool right = true;
    for (const Rung& rung : rungs) {
      launch(rung, problem);
      const Problem::Comparison found = problem.compare();
      right &= found.wrong == 0;
      std::printf("%-11s %-31s", rung.name, rung.idea);
      if (found.wrong > 0) {
        std::printf("  WRONG: not timed\n");
        continue;
      }
      const double reached = speed(rung, problem), rate = clock(rung, problem);
      std::printf(" %#9.4g  %5.3f  %.5f  %4.2f %s\n", reached, rate, found.relative(), reached / most,
                  cu::bar(reached, most, kLongestBar).c_str());
    }
    return right;
  }

  mutable cu::Memory scores_, weights_;
  mutable std::size_t scratch_ = 0;  // elements in each
  const cu::Module module_{cu::image("kernels.ptx")};
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
    for (const Rung& rung : kBest)
      std::printf("%d %s %d %d %d\n", rung.head, rung.kernel, rung.rows, rung.threads, rung.bytes);
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
