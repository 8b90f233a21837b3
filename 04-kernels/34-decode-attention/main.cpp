// Attention of one new token for each request, one idea after the other, for compute capability 8.0 and later. Each
// kernel is verified against double precision, then timed with random normals, in a graph.
//   --verify                  only verifies small problems
//   --profile REQUESTS KEYS   launches each kernel once, for a profiler
//   --list                    prints the kernels of the last table, for beside_torch.py
#include "04-kernels/attribute.hpp"
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "problem.hpp"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

constexpr int kLongestBar = 20;        // characters
constexpr double kBudget = 0.1;        // seconds of measurement per kernel
constexpr double kShortBudget = 0.01;  // on a slow device
constexpr int kLaunches = 20;          // in a graph

struct Rung {
  const char *name, *kernel, *idea;
  int head, bytes;  // elements of a row; shared memory of a block
  bool grouped;
  Schedule schedule;
  Cache cache;
};
template <class S>
constexpr Rung rung(const char* name, const char* kernel, const char* idea = "") {
  return {name, kernel, idea, S::kHead, kSharedBytes<S>, S::kGrouped, S::kSchedule, {S::kPaged, S::kBytes}};
}

constexpr Rung kEven = rung<Even<128>>("even", "even_128", "equal work for all blocks");
constexpr Rung kFp8 = rung<Fp8<128>>("fp8", "fp8_128", "a cache of 8-bit elements");
constexpr Rung kLadder[] = {
    rung<PerHead<128>>("per_head", "per_head_128", "a block for each head of q"),
    rung<Grouped<128>>("grouped", "grouped_128", "a block for each head of k and v"),
    rung<Split<128>>("split", "split_128", "several blocks for each head"),
    rung<Paged<128>>("paged", "paged_128", "pages, found in a table"),
    kEven,
    kFp8,
};
constexpr Rung kOthers[] = {
    rung<SplitPerHead<128>>("(control)", "split_per_head_128", "split, but not grouped"),
    rung<Even<64>>("even", "even_64"),
};

// Lengths, heads of k and v, group, elements of a row: no keys, one key, one key more or less than a page or a step of
// a block, more requests than a warp has lanes, and scores whose exponentials are infinite.
const Size kProblems[] = {
    {{1}, 1, 1, 128},    {{0, 15, 16, 17}, 1, 4, 128},   {{130, 0, 127, 290, 128, 129}, 1, 8, 128, 60},
    {{530}, 1, 16, 128}, {{0, 255, 256, 257}, 1, 3, 64}, {std::vector<int>(35, 20), 2, 2, 64, 30},
};

constexpr Cache kCaches[] = {{false, 2}, {true, 2}, {true, 1}};

std::string requests_of(const std::vector<int>& lengths) {
  return std::to_string(lengths.size()) + (lengths.size() == 1 ? " request" : " requests");
}

// How many blocks share the work of so many heads, if there is room for `room` blocks. With a few blocks less, there
// may be as many for each head, or as many heads for each block. Then, if all requests have the same length, each block
// has whole heads, or a part of one head.
int even_blocks(int heads, int room) {
  for (int blocks = room; 10 * blocks >= 9 * room; --blocks) {
    if (blocks % heads == 0 || heads % blocks == 0) return blocks;
  }
  return room;
}

class Lesson {
 public:
  // Verifies every kernel with small problems, also in a graph. Returns whether all results were right.
  bool verify() const {
    int wrong = 0;
    std::vector<Rung> all(std::begin(kLadder), std::end(kLadder));
    all.insert(all.end(), std::begin(kOthers), std::end(kOthers));
    for (const Size& size : kProblems) {
      for (const Cache& cache : kCaches) {
        std::vector<Rung> fitting;
        std::copy_if(all.begin(), all.end(), std::back_inserter(fitting),
                     [&](const Rung& rung) { return rung.head == size.head && rung.cache == cache; });
        if (fitting.empty()) continue;
        const Problem problem(module_, size, cache, true);
        for (const Rung& rung : fitting) wrong += !is_right(rung, problem);
      }
    }
    if (wrong == 0) {
      std::printf("%zu small problems: all results are right, and have the same bits in a graph\n",
                  std::size(kProblems));
    }
    return wrong == 0;
  }

  bool climb() const {
    const int shorter = is_fast_ ? 1 : 256;
    std::vector<int> ragged(is_fast_ ? 16 : 4, 1024 / shorter);
    ragged[1] = 65536 / shorter;
    return table({65536 / shorter}) && table(std::vector<int>(is_fast_ ? 16 : 4, 16384 / shorter)) && table(ragged);
  }

  // The last kernels for each size.
  bool compare_sizes() const {
    if (!is_fast_) return true;
    std::printf("\nrequests  keys         MB       us   TB/s    error  e4m3, us   TB/s    error\n");
    for (const int requests : {1, 16, 64}) {
      for (const int keys : {4096, 16384, 65536}) {
        std::printf("%-9d %-6d", requests, keys);
        for (const Rung& rung : {kEven, kFp8}) {
          const std::unique_ptr<Problem> problem = allocated(std::vector<int>(requests, keys), rung.cache);
          if (!problem) {
            std::printf("  not enough memory");
            break;
          }
          launch(rung, *problem);
          const Problem::Comparison found = problem->compare();
          if (found.wrong > 0) {
            std::printf(" WRONG: not timed\n");
            return false;
          }
          const double time = seconds(rung, *problem), speed = problem->bytes() / time / 1e12;
          if (rung.cache.bytes == 2) std::printf(" %8.1f", problem->bytes() / 1e6);
          std::printf("  %7.1f  %5.3f  %.5f", time * 1e6, speed, found.relative());
        }
        std::printf("\n");
      }
    }
    return true;
  }

  void profile(int requests, int keys) const {
    for (const Cache& cache : kCaches) {
      const Problem problem(module_, {std::vector<int>(requests, keys), kKvHeads, kGroup, 128}, cache);
      for (const Rung& rung : kLadder) {
        if (rung.cache == cache) launch(rung, problem);
      }
      if (kOthers[0].cache == cache) launch(kOthers[0], problem);
      CU_CHECK(cuCtxSynchronize());
    }
  }

  void list() const {
    for (const Rung& rung : {kEven, kFp8}) {
      for (const int requests : {1, 4, 16, 64}) {
        const int room = kBlocks * multiprocessors_;
        std::printf("%d %s %d %d %d %d\n", requests, rung.kernel, even_blocks(requests * kKvHeads, room), kThreads,
                    rung.bytes, 2 * room * kPartFloats);
      }
    }
  }

 private:
  static constexpr int kKvHeads = 8, kGroup = 4;
  int kv_heads() const { return is_fast_ ? kKvHeads : 2; }

  std::unique_ptr<Problem> allocated(const std::vector<int>& lengths, const Cache& cache) const {
    std::size_t free, all, keys = 0;
    CU_CHECK(cuMemGetInfo(&free, &all));
    for (const int length : lengths) keys = std::max(keys, std::size_t(length));
    if (lengths.size() * keys * kv_heads() * 128 * cache.bytes * 2 > free / 10 * 9) return nullptr;
    return std::make_unique<Problem>(module_, Size{lengths, kv_heads(), kGroup, 128}, cache);
  }
  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const Problem trial(module_, {{128}, 1, 1, 128}, {true, 2});
    return cu::median_device_seconds([&] { launch(kEven, trial); }, 1) < 1e-3;
  }

  void launch(const Rung& rung, const Problem& problem, CUstream stream = nullptr) const {
    Decode decode = problem.decode();
    void* arguments[] = {&decode};
    const int heads = problem.heads() * (rung.grouped ? 1 : decode.group), room = kBlocks * multiprocessors_;
    decode.splits = rung.schedule == Schedule::kSplit ? std::max(1, room / heads) : 1;
    const int blocks = rung.schedule == Schedule::kEven ? even_blocks(heads, room) : heads * decode.splits;
    const CUfunction function = module_.function(rung.kernel);
    CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, rung.bytes));
    CU_CHECK(cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, rung.bytes, stream, arguments, nullptr));
  }

  // The time of one launch in a graph.
  double seconds(const Rung& rung, const Problem& problem) const {
    return seconds([&](CUstream stream) { launch(rung, problem, stream); });
  }
  template <class Launch>
  double seconds(const Launch& launch) const {
    const int launches = is_fast_ ? kLaunches : 1;
    const Repeated graph(launches, launch);
    return sustained_seconds([&] { graph.launch(); }, is_fast_ ? kBudget : kShortBudget) / launches;
  }
  // The time to read k and v, and nothing else.
  double reading(const Problem& problem) const {
    const void *k = problem.decode().k, *v = problem.decode().v;
    void* to = problem.decode().o;
    std::size_t vectors = static_cast<std::size_t>(problem.bytes_of_cache() / 32);
    return seconds([&](CUstream stream) {
      void* arguments[] = {&k, &v, &vectors, &to};
      CU_CHECK(cuLaunchKernel(module_.function("read"), 8 * multiprocessors_, 1, 1, 256, 1, 1, 0, stream, arguments,
                              nullptr));
    });
  }

  bool is_right(const Rung& rung, const Problem& problem) const {
    launch(rung, problem);
    const auto o = problem.o();
    const auto lse = problem.lse();
    const unsigned wrong = problem.compare().wrong;
    Repeated(1, [&](CUstream stream) { launch(rung, problem, stream); }).launch();
    const bool same = problem.o() == o && problem.lse() == lse;
    problem.compare();
    if (wrong > 0 || !same) {
      const Size& size = problem.size();
      std::printf("WRONG: %s, %s with up to %d keys, rows of %d elements: ", rung.name,
                  requests_of(size.lengths).c_str(), *std::max_element(size.lengths.begin(), size.lengths.end()),
                  size.head);
      std::printf(wrong > 0 ? "%u results\n" : "other bits in a graph\n", wrong);
    }
    return wrong == 0 && same;
  }

  bool table(const std::vector<int>& lengths) const {
    const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
    std::printf("\n%s of %s%d keys\n", requests_of(lengths).c_str(),
                *least == *most ? "" : (std::to_string(*least) + " to ").c_str(), *most);
    std::printf("kernel     what changed                             MB        us   TB/s    error  of reading\n");
    bool right = true;
    std::unique_ptr<Problem> problem;
    std::vector<unsigned short> in_bfloat16;
    double time_to_read = 0;  // a byte
    for (const Rung& rung : ladder()) {
      if (!problem || !(rung.cache == problem->cache())) {
        problem.reset();
        problem = allocated(lengths, rung.cache);
        if (!problem) {
          std::printf("%-10s not enough memory\n", rung.name);
          continue;
        }
        time_to_read = reading(*problem) / problem->bytes_of_cache();
        std::printf("%-43s%9.1f  %8.1f  %5.3f\n",
                    rung.cache.bytes == 1 ? "reading the cache, e4m3"
                    : rung.cache.paged    ? "reading the cache, pages"
                                          : "reading the cache, contiguous",
                    problem->bytes_of_cache() / 1e6, time_to_read * problem->bytes_of_cache() * 1e6,
                    1e-12 / time_to_read);
      }
      launch(rung, *problem);
      const std::vector<unsigned short> o = problem->o();
      const Problem::Comparison found = problem->compare();
      right &= found.wrong == 0;
      std::printf("%-10s %-32s", rung.name, rung.idea);
      if (found.wrong > 0) {
        std::printf("  WRONG: not timed\n");
        continue;
      }
      const double time = seconds(rung, *problem), share = time_to_read * problem->bytes() / time;
      std::printf("%9.1f  %8.1f  %5.3f  %.5f  %4.2f %s\n", problem->bytes() / 1e6, time * 1e6,
                  problem->bytes() / time / 1e12, found.relative(), share, cu::bar(share, 1, kLongestBar).c_str());
      if (rung.cache.bytes == 2) in_bfloat16 = o;
      if (rung.cache.bytes == 1) std::printf("e4m3 changes o by %.4f\n", difference(in_bfloat16, o));
    }
    return right;
  }
  static std::vector<Rung> ladder() {
    std::vector<Rung> found(std::begin(kLadder), std::end(kLadder));
    found.insert(found.begin() + 3, kOthers[0]);
    return found;
  }
  static double difference(const std::vector<unsigned short>& a, const std::vector<unsigned short>& b) {
    const auto number = [](unsigned short bits) {
      const unsigned wide = unsigned{bits} << 16;
      float value;
      std::memcpy(&value, &wide, sizeof value);
      return double{value};
    };
    double errors = 0, values = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double value = number(a[i]), error = number(b[i]) - value;
      errors += error * error, values += value * value;
    }
    return std::sqrt(errors / values);
  }

  const cu::Module module_{cu::image("kernels.ptx")};
  const int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const bool is_fast_ = measure_whether_fast();
};

// Returns why the lesson cannot run on this device, or "".
std::string obstacle() {
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
            bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  if (major < 8) {
    return "mma with bfloat16 needs compute capability 8.0, and this device has " + std::to_string(major) + "." +
           std::to_string(minor);
  }
  const int needed = kSharedBytes<Even<128>> + 4096;  // the kernels use less than that besides
  if (bytes >= needed) return "";
  return "a block needs " + std::to_string(needed) + " bytes of shared memory, and this device has " +
         std::to_string(bytes);
}

int main(int argc, char** argv) try {
  const cu::Primary context;
  if (const std::string reason = obstacle(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  const Lesson lesson;
  if (mode == "--list") {
    lesson.list();
    return 0;
  }
  if (mode == "--profile") {
    const int requests = argc > 2 ? std::atoi(argv[2]) : 0, keys = argc > 3 ? std::atoi(argv[3]) : 0;
    if (requests < 1 || requests > kMostRequests || keys < 1) {
      std::fprintf(stderr, "--profile needs 1 to %d requests, and how many keys each of them has.\n", kMostRequests);
      return 1;
    }
    lesson.profile(requests, keys);
    return 0;
  }
  if (mode == "--verify") return lesson.verify() ? 0 : 1;
  cu::print_device(context.device);
  return lesson.verify() && lesson.climb() && lesson.compare_sizes() ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
