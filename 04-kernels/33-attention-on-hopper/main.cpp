// Attention with the instructions of compute capability 9.0, one idea after the other. Each kernel is verified against
// double precision, then timed with random normals.
//   --controls          measures variants that leave something out
//   --e4m3              only the kernels that multiply elements of 8 bits
//   --verify            only verifies small problems
//   --profile N HEADS   launches each kernel once, for N queries and keys and a profiler
//   --list              prints the kernels of the last table, for beside_torch.py
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "elements.hpp"
#include "launcher.hpp"

#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

constexpr int kLongestBar = 20;         // characters
constexpr int kTokens = 16384;          // rows of q for each group of heads whose rows have kWidth elements together
constexpr int kWidth = 2048;            // a usual width of a model
constexpr int kRounds = 7;
constexpr double kBudget = 0.2;         // seconds of measurement per kernel and round
constexpr double kShortBudget = 0.001;  // on a slow device
constexpr int kFewRows = 128, kFewHeads = 1;
constexpr double kMostOfPromoted = 0.005;  // relative error
constexpr int kMultiplyAdds = 2048;  // of bfloat16, per cycle of a multiprocessor of compute capability 9.0

constexpr Rung kLast[] = {rung<Persistent<64>>("persistent", "persistent_64"),
                          rung<Persistent<128>>("persistent", "persistent_128")};
constexpr Rung kOverlap = rung<Overlap<128>>("overlap", "overlap_128", "softmax during the products");
constexpr Rung kPairs = rung<Pairs<128>>("pairs", "pairs_128", "two products in a row");
constexpr Rung kLadder[] = {
    rung<OneGroup<128>>("one_group", "one_group_128", "wgmma, and loads of the TMA"),
    rung<Producer<128>>("producer", "producer_128", "one warpgroup loads, two multiply"),
    kPairs,
    rung<PingPong<128>>("ping_pong", "ping_pong_128", "the two alternate"),
    kOverlap,
    rung<Both<128>>("both", "both_128", "overlap and ping-pong"),
};
constexpr Rung kCausal[] = {
    rung<Overlap<128>>("overlap", "overlap_128", "blocks in the order of the rows"),
    rung<LongestFirst<128>>("longest", "longest_first_128", "longest rows come first"),
    rung<Persistent<128>>("persistent", "persistent_128", "one block per multiprocessor"),
};
constexpr Rung kE4m3[] = {
    rung<Persistent<128>>("persistent", "persistent_128", "bfloat16, for comparison"),
    rung<E4m3<128>>("e4m3", "e4m3_128", "elements of 8 bits"),
    rung<Promoted<128>>("promoted", "promoted_128", "sums of 128 are added in FP32"),
};
constexpr Rung kControls[] = {
    kPairs,
    rung<InStep<Pairs<128>>>("pairs", "pairs_in_step_128", "both consumers start together"),
    rung<NoSoftmax<Pairs<128>>>("pairs", "pairs_no_softmax_128", "no softmax"),
    rung<NoSoftmax<PingPong<128>>>("ping_pong", "ping_pong_no_softmax_128", "no softmax"),
    kOverlap,
    rung<InStep<Overlap<128>>>("overlap", "overlap_in_step_128", "both consumers start together"),
    rung<Rescales<Overlap<128>>>("overlap", "overlap_rescales_128", "sums are always rescaled"),
    rung<OnlyExponentials<Overlap<128>>>("overlap", "overlap_only_exponentials_128",
                                         "of the softmax, only exponentials"),
    rung<NoSoftmax<Overlap<128>>>("overlap", "overlap_no_softmax_128", "no softmax"),
    rung<OnlyProducts<Overlap<128>>>("overlap", "overlap_only_products_128", "no softmax, few loads"),
    rung<Ordered<Overlap<128>>>("overlap", "overlap_ordered_128", "waits after the exponentials"),
};
constexpr Rung kE4m3Controls[] = {
    kE4m3[1],
    rung<Unordered<E4m3<128>>>("e4m3", "e4m3_unordered_128", "waits before the exponentials"),
    rung<InStep<E4m3<128>>>("e4m3", "e4m3_in_step_128", "both consumers start together"),
    rung<OnlyExponentials<E4m3<128>>>("e4m3", "e4m3_only_exponentials_128", "of the softmax, only exponentials"),
    rung<NoSoftmax<E4m3<128>>>("e4m3", "e4m3_no_softmax_128", "no softmax"),
    kE4m3[2],
    rung<Unordered<Promoted<128>>>("promoted", "promoted_unordered_128", "waits before the exponentials"),
};

// Heads, group, queries, keys, elements of a row, and whether causal: ragged tiles, one row or key more or less than a
// tile, rows without keys, no keys at all, no rows at all, and scores whose exponentials are infinite.
constexpr Size kProblems[] = {
    {1, 1, 66, 290, 128, true, 4}, {2, 2, 65, 129, 128, false, 30}, {1, 1, 127, 128, 128, true},
    {1, 1, 129, 1, 128, true},     {1, 1, 1, 1, 128, false},        {1, 1, 5, 0, 128, false},
    {1, 1, 0, 5, 128, true},       {2, 2, 65, 257, 64, true, 30},
};
constexpr Size kLargeProblem{6, 2, 1000, 1111, 128, true};  // for a fast device
// Scores in e4m3 are less exact, so larger ones would differ too much from what is right.
constexpr Size kE4m3Problems[] = {
    {1, 1, 66, 290, 128, true, 4}, {2, 2, 65, 129, 128, false, 12}, {1, 1, 127, 128, 128, true},
    {1, 1, 129, 1, 128, true},     {1, 1, 5, 0, 128, false},        {1, 1, 0, 5, 128, true},
};

class Lesson {
 public:
  // Verifies every kernel with small problems, also in a graph. Returns whether all results were right.
  bool verify() const {
    std::vector<Size> sizes(std::begin(kProblems), std::end(kProblems));
    if (is_fast_) sizes.push_back(kLargeProblem);
    int wrong = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Problem problem(module_, sizes[i]);
      const bool in_graph = is_fast_ || sizes[i].heads > 1;
      for (const Rung& rung : all()) wrong += rung.head == sizes[i].head && !is_right(rung, problem, in_graph);
    }
    return report(wrong, sizes.size(), "problems");
  }
  bool verify_e4m3() const {
    std::vector<Size> sizes(std::begin(kE4m3Problems), std::end(kE4m3Problems));
    if (is_fast_) sizes.push_back(kLargeProblem);
    int wrong = 0;
    for (const Size& size : sizes) {
      const Problem problem(module_, size);
      const Elements elements(module_, problem);
      elements.round_problem();
      for (const Rung& rung : kE4m3) wrong += !is_right(rung, problem, is_fast_ || size.heads > 1, &elements);
    }
    return report(wrong, sizes.size(), "problems in e4m3");
  }

  // The kernels for e4m3 beside the last one for bfloat16, without and with a mask.
  bool climb_e4m3() const {
    bool right = true;
    for (const bool causal : {false, true}) {
      const Problem problem(module_, sized(128, is_fast_ ? kTokens : kFewRows, causal));
      const Elements elements(module_, problem);
      right &= table(causal ? "e4m3, causal  what changed" : "e4m3, full  what changed",
                     {std::begin(kE4m3), std::end(kE4m3)}, problem, true, &elements);
      if (causal || !is_fast_) continue;
      const double seconds = pace(module_, [&] { elements.quantize(); }, kBudget).seconds;
      std::printf("preparation of q, k and v: %.1f microseconds\n", seconds * 1e6);
    }
    return right && compare_sums();
  }

  // What the sums of many positive products lose. Returns whether those of the last kernel lose little.
  bool compare_sums() const {
    std::printf("\nv from 1/2 to 1: errors of o in %%\nkeys      ");
    for (const Rung& rung : kE4m3) std::printf("%12s", rung.name);
    std::printf("\n");
    double error = 0;
    for (int keys = is_fast_ ? 1024 : 256; keys <= (is_fast_ ? 65536 : 1024); keys *= 4) {
      const Problem problem(module_, {1, 1, 128, keys, 128, false});
      CUdeviceptr v = reinterpret_cast<CUdeviceptr>(problem.attention().v);
      std::size_t count = problem.elements_of_k();
      void* arguments[] = {&v, &count};
      CU_CHECK(cuLaunchKernel(module_.function("fill_positive"), 64, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
      const Elements elements(module_, problem);
      elements.round_problem();
      std::printf("%-10d", keys);
      for (const Rung& rung : kE4m3) {
        launch(rung, problem, &elements);
        error = problem.compare().relative();
        std::printf("%12.3f", 100 * error);
      }
      std::printf("\n");
      if (!(error < kMostOfPromoted)) return false;
    }
    return true;
  }

  bool climb() const {
    const Problem full(module_, sized(128, is_fast_ ? kTokens : kFewRows, false));
    const Size& size = full.size();
    std::printf("%d %s, %d queries and keys, rows of %d elements\n", size.heads, size.heads == 1 ? "head" : "heads",
                size.queries, size.head);
    bool right = table("full        what changed", {std::begin(kLadder), std::end(kLadder)}, full);
    const auto climb_causal = [&](const char* title, int n) {
      const Problem causal(module_, sized(128, n, true));
      return table(title, {std::begin(kCausal), std::end(kCausal)}, causal);
    };
    right &= climb_causal("causal      what changed", is_fast_ ? kTokens : kFewRows);
    if (is_fast_) right &= climb_causal("n = 2048    what changed", 2048);
    return right;
  }

  // The last kernel for each size.
  bool compare_sizes() const {
    if (!is_fast_) return true;
    std::printf("\nelements  queries       full     causal, TFLOP/s\n");
    for (const Rung& rung : kLast) {
      for (const int n : {2048, 4096, 8192, 16384}) {
        double reached[2];
        for (const bool causal : {false, true}) {
          const Problem problem(module_, sized(rung.head, n, causal));
          if (!is_right(rung, problem, false)) return false;
          reached[causal] = measured(rung, problem).tflops;
        }
        std::printf("%-9d %-8d %#9.4g  %#9.4g\n", rung.head, n, reached[0], reached[1]);
      }
    }
    return true;
  }

  bool measure_controls() const {
    const Problem problem(module_, sized(128, is_fast_ ? kTokens : kFewRows, false));
    const Elements elements(module_, problem);
    return table("control     what is different", {std::begin(kControls), std::end(kControls)}, problem, false) &&
           table("control     what is different", {std::begin(kE4m3Controls), std::end(kE4m3Controls)}, problem, false,
                 &elements);
  }

  void profile(int n, int heads) const {
    const Problem full(module_, {heads, 1, n, n, 128, false}), causal(module_, {heads, 1, n, n, 128, true});
    for (const Rung& rung : kLadder) launch(rung, full);
    for (const Rung& rung : kCausal) launch(rung, causal);
    for (const Rung& rung : kControls) launch(rung, full);
    const Elements elements(module_, full);
    for (const Rung& rung : kE4m3) launch(rung, full, &elements);
    for (const Rung& rung : kE4m3Controls) launch(rung, full, &elements);
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  static std::vector<Rung> all() {
    std::vector<Rung> found(std::begin(kLadder), std::end(kLadder));
    found.insert(found.end(), std::begin(kCausal) + 1, std::end(kCausal));
    found.push_back(kLast[0]);
    return found;
  }

  Size sized(int head, int n, bool causal) const {
    return {is_fast_ ? kTokens / n * (kWidth / head) : kFewHeads, 1, n, n, head, causal};
  }
  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const Problem trial(module_, {kFewHeads, 1, kFewRows, kFewRows, 128, false});
    return cu::median_device_seconds([&] { launch(kLast[1], trial); }, 1) < 1e-3;
  }

  bool report(int wrong, std::size_t problems, const char* of) const {
    if (wrong > 0) return false;
    std::printf("%zu %s: all results are right, and have the same bits in a graph\n", problems, of);
    return true;
  }

  Arguments arguments(const Rung& rung, const Problem& problem, const Elements* elements) const {
    const int heads = problem.size().heads;
    return rung.element == 1 ? launcher_.arguments(rung, problem.attention(), heads, *elements)
                             : launcher_.arguments(rung, problem.attention(), heads);
  }
  void launch(const Rung& rung, const Problem& problem, const Elements* elements = nullptr, CUstream stream = nullptr,
              int most = INT_MAX) const {
    Arguments found = arguments(rung, problem, elements);
    launcher_.launch(rung, found, stream, most);
  }
  // How many results are wrong. With elements, the problem's matrices must have been rounded.
  static unsigned wrong(const Rung& rung, const Problem& problem) {
    return problem.compare(rung.element == 1 ? "compare_e4m3" : "compare").wrong;
  }

  struct Speed {
    double tflops, gigahertz;
  };
  Speed measured(const Rung& rung, const Problem& problem, const Elements* elements = nullptr) const {
    Arguments found = arguments(rung, problem, elements);
    const auto [seconds, clock] =
        pace(module_, [&] { launcher_.launch(rung, found); }, is_fast_ ? kBudget : kShortBudget);
    return {operations(problem.size()) / seconds / 1e12, clock};
  }

  // Whether o and lse are right, and whether a launch in a graph computes the same bits. There, a persistent kernel
  // gets one block, which computes everything.
  bool is_right(const Rung& rung, const Problem& problem, bool in_graph, const Elements* elements = nullptr) const {
    launch(rung, problem, elements);
    const std::vector<char> bits = problem.bits();
    const unsigned wrong = this->wrong(rung, problem);
    bool same = true;
    if (in_graph && !bits.empty()) {
      Repeated(1, [&](CUstream stream) { launch(rung, problem, elements, stream, 1); }).launch();
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

  // Control runs need not be right. With elements, the errors are those of the original matrices, and everything else
  // is done with the rounded ones.
  bool table(const char* title, const std::vector<Rung>& rungs, const Problem& problem, bool verified = true,
             const Elements* elements = nullptr) const {
    std::printf("\n%-45s  TFLOP/s    GHz    error  busy\n", title);
    std::vector<Problem::Comparison> found;
    for (const Rung& rung : rungs) {
      launch(rung, problem, elements);
      found.push_back(problem.compare());
      if (!verified) found.back().wrong = 0;
    }
    if (elements != nullptr) elements->round_problem();
    for (std::size_t i = 0; elements != nullptr && i < rungs.size(); ++i) {
      launch(rungs[i], problem, elements);
      found[i].wrong = verified ? wrong(rungs[i], problem) : 0;
    }
    // The kernels alternate, because the clock rate depends on what has run before.
    std::vector<std::vector<double>> speeds(rungs.size()), clocks(rungs.size());
    for (int round = 0; round < (is_fast_ ? kRounds : 1); ++round) {
      for (std::size_t i = 0; i < rungs.size(); ++i) {
        if (found[i].wrong > 0) continue;
        const Speed speed = measured(rungs[i], problem, elements);
        speeds[i].push_back(speed.tflops), clocks[i].push_back(speed.gigahertz);
      }
    }
    bool right = true;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      right &= found[i].wrong == 0;
      std::printf("%-11s %-33s", rungs[i].name, rungs[i].idea);
      if (found[i].wrong > 0) {
        std::printf("  WRONG: not timed\n");
        continue;
      }
      const double speed = median(speeds[i]), clock = median(clocks[i]), share = busy(rungs[i], speed, clock);
      std::printf(" %#9.4g  %5.3f  %.5f  %4.2f %s\n", speed, clock, found[i].relative(), share,
                  cu::bar(share, 1, kLongestBar).c_str());
    }
    return right;
  }
  // The share of the tensor cores' multiply-adds at this clock rate.
  double busy(const Rung& rung, double tflops, double gigahertz) const {
    return tflops * 1e3 / (2.0 * kMultiplyAdds * 2 / rung.element * launcher_.multiprocessors() * gigahertz);
  }

  const cu::Module module_{cu::image("kernels.ptx")};
  const Launcher launcher_{module_};
  const bool is_fast_ = measure_whether_fast();
};

int main(int argc, char** argv) try {
  const cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major != 9 || minor != 0) {
    std::printf("skipped: wgmma needs compute capability 9.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--list") {
    for (const Rung& rung : kLast) {
      std::printf("%d %s %d %d %d %d\n", rung.head, rung.kernel, rung.rows, rung.keys, rung.threads, rung.bytes);
    }
    return 0;
  }
  const Lesson lesson;
  if (mode == "--controls") return lesson.measure_controls() ? 0 : 1;
  if (mode == "--profile" && argc > 3) {
    lesson.profile(std::atoi(argv[2]), std::atoi(argv[3]));
    return 0;
  }
  if (mode == "--verify") return lesson.verify() && lesson.verify_e4m3() ? 0 : 1;
  cu::print_device(context.device);
  if (mode == "--e4m3") return lesson.verify_e4m3() && lesson.climb_e4m3() ? 0 : 1;
  const bool right = lesson.verify() & lesson.verify_e4m3();
  return lesson.climb() && lesson.climb_e4m3() && lesson.compare_sizes() && right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
