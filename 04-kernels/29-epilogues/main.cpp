// Matrix products with an epilogue: bias and GELU, residual, SwiGLU, as a kernel of their own and in the registers of
// the product. Then products of a few rows, with tiles that several blocks share. All results are verified completely.
//   --verify     verifies the kernels with more shapes, and measures nothing
//   --profile    launches each kernel once, for a profiler
#include "04-kernels/attribute.hpp"
#include "04-kernels/library.hpp"
#include "04-kernels/matrices.hpp"
#include "04-kernels/sustained.hpp"
#include "common/image.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

constexpr double kBudget = 0.3;        // seconds of measurement per kernel
constexpr double kShortBudget = 0.03;  // per candidate and per algorithm of cublasLt
constexpr int kRounds = 5;             // in which all of them alternate; one if the device is slow
constexpr int kLayers = 4;  // matrices of weights that are used in turn: together larger than the L2 cache
constexpr float kScale = 0x1p-6f;  // of the weights, so that the sums are in the range where activations matter
constexpr int kBand = 1024;

constexpr Sides kLarge{4096, 14336, 4096}, kSmall{128, 512, 256};
constexpr Sides kThinLarge[] = {{1, 14336, 4096}, {16, 14336, 4096}, {64, 14336, 4096},
                                {1, 4096, 14336}, {16, 4096, 14336}, {64, 4096, 14336}};
constexpr Sides kThinSmall[] = {{5, 256, 512}, {40, 256, 256}};

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// A kernel that computes a product, and its shape.
struct Kernel {
  std::string name;
  int threads, bytes, rows, columns;

  template <class S>
  static Kernel of(const std::string& name) {
    return {name, kThreads<S>, kSharedBytes<S>, S::kRows, S::kColumns};
  }
};

// The matrices of one product, and everything that an epilogue needs.
class Problem {
 public:
  Problem(const cu::Module& module, Sides sides, int layers = 1)
      : module_(module), sides_(sides), matrices_(module, sides, false) {
    for (int i = 1; i < layers; ++i) layers_.emplace_back(2 * weights());
  }

  Sides sides() const { return sides_; }
  std::size_t weights() const { return std::size_t(sides_.inner) * sides_.columns; }

  void fill(Data data) {
    exact_ = data == Data::kIntegers;
    matrices_.fill(data);
    std::size_t count = weights();
    CUdeviceptr b = matrices_.b();
    float factor = kScale;
    void* arguments[] = {&b, &count, &factor};
    launch("scale", arguments);
    fill(bias_, sides_.columns, 2), fill(residual_, results(), 3);
    for (const cu::Memory& layer : layers_) CU_CHECK(cuMemcpyDtoD(layer.address, b, 2 * count));
    CU_CHECK(cuMemsetD8(wide_.address, 0xff, 2 * results()));
    CU_CHECK(cuMemsetD8(matrices_.c(), 0xff, 2 * results()));
  }

  // The arguments of a kernel. With several layers, each call uses the next one's weights.
  Linear linear(int band) {
    const int layer = next_++ % (static_cast<int>(layers_.size()) + 1);
    Linear linear;
    linear.a = pointer(matrices_.a());
    linear.b = pointer(layer == 0 ? matrices_.b() : layers_[layer - 1].address);
    linear.c = pointer(matrices_.c());
    linear.rows = sides_.rows, linear.columns = sides_.columns, linear.inner = sides_.inner, linear.band = band;
    linear.bias = pointer(bias_.address), linear.residual = pointer(residual_.address);
    linear.partial = nullptr, linear.finished = nullptr;
    return linear;
  }
  // The product that a second kernel loads.
  void* wide() const { return pointer(wide_.address); }

  // Returns how many elements of c are wrong, and overwrites c with NaN for the next kernel.
  unsigned wrong(Epilogue epilogue, bool stored) {
    Linear linear = this->linear(1);
    CUdeviceptr sums = matrices_.sums(), lengths = matrices_.lengths();
    float factor = kScale;
    CU_CHECK(cuMemsetD32(wrong_.address, 0, 1));
    void* arguments[] = {&epilogue, &linear, &sums, &lengths, &factor, &exact_, &stored, &wrong_.address};
    launch("check", arguments);
    unsigned count;
    CU_CHECK(cuMemcpyDtoH(&count, wrong_.address, sizeof count));
    CU_CHECK(cuMemsetD8(matrices_.c(), 0xff, 2 * results()));
    return count;
  }

 private:
  std::size_t results() const { return std::size_t(sides_.rows) * sides_.columns; }
  void launch(const char* kernel, void** arguments) const {
    CU_CHECK(cuLaunchKernel(module_.function(kernel), 1024, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void fill(const cu::Memory& memory, std::size_t count, unsigned seed) const {
    CUdeviceptr address = memory.address;
    bool normal = true;
    void* arguments[] = {&address, &count, &seed, &normal};
    launch("fill", arguments);
  }

  const cu::Module& module_;
  Sides sides_;
  Matrices matrices_;
  std::vector<cu::Memory> layers_;
  cu::Memory bias_{std::size_t{2} * sides_.columns}, residual_{2 * results()}, wide_{2 * results()};
  cu::Memory wrong_{sizeof(unsigned)};
  bool exact_ = true;
  int next_ = 0;
};

struct Fused {
  const char* text;
  Epilogue epilogue;
  const char *kernel, *separate;  // in the registers of the product; a kernel of its own
};
constexpr Fused kEpilogues[] = {
    {"bias, GELU", Epilogue::kBiasGelu, "bias_gelu", "add_bias_gelu"},
    {"residual", Epilogue::kResidual, "residual", "add_residual"},
    {"SwiGLU", Epilogue::kSwiGlu, "swiglu", "apply_swiglu"},
};

class Lesson {
 public:
  // Returns whether all results were right.
  bool run(CUdevice device) {
    char name[100];
    CU_CHECK(cuDeviceGetName(name, sizeof name, device));
    large_ = is_fast();
    const Sides sides = large_ ? kLarge : kSmall;
    std::printf("%s: %d x %d by %d x %d bfloat16\n\n", name, sides.rows, sides.inner, sides.inner, sides.columns);
    std::printf("epilogue    where                      ms   of the product alone\n");
    Problem problem(module_, sides);
    bool right = measure_fused(problem);
    std::printf("\nmicroseconds             blocks for each tile:   equal   cublasLt\n");
    std::printf("rows  columns  inner       1       2       4    shares       best  ratio\n");
    for (const Sides& thin : thin_sides()) right &= measure_thin(thin);
    return right;
  }

  bool verify() {
    bool right = true;
    for (const Sides sides : {Sides{128, 256, 64}, Sides{384, 768, 192}}) {
      Problem problem(module_, sides);
      right &= verify_fused(problem).empty();
    }
    for (const Sides sides :
         {Sides{1, 128, 64}, Sides{16, 384, 704}, Sides{63, 256, 1024}, Sides{64, 640, 320}, Sides{130, 256, 256}}) {
      Problem problem(module_, sides, 2);
      for (int blocks : {1, 2, 3, 5, 7, 32, 132, 264}) {
        blocks = std::min(blocks, block_counts(sides).back());
        const std::string found = verify_thin(problem, blocks);
        if (!found.empty()) std::printf("%s, %d blocks: WRONG\n", found.c_str(), blocks);
        right &= found.empty();
      }
    }
    std::printf("%s\n", right ? "all elements are right" : "WRONG");
    return right;
  }

  // Launches each kernel once.
  void profile() {
    Problem problem(module_, is_fast() ? kLarge : kSmall);
    problem.fill(Data::kNormals);
    launch(full("plain"), problem);
    for (const Fused& one : kEpilogues) launch(full(one.kernel), problem), launch_pass(one, problem);
    for (const Sides& sides : thin_sides()) {
      Problem few(module_, sides);
      few.fill(Data::kNormals);
      for (const int blocks : block_counts(sides)) launch_thin(few, blocks);
    }
    CU_CHECK(cuCtxSynchronize());
  }

 private:
  Kernel full(const std::string& name) const {
    const bool fits = kSharedBytes<Full<4>> <= attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    return fits ? Kernel::of<Full<4>>(name + "_4") : Kernel::of<Full<2>>(name + "_2");
  }
  static Kernel thin(Sides sides, bool activated = false) {
    const std::string suffix = activated ? "_bias_gelu" : "";
    return sides.rows <= Thin16::kRows ? Kernel::of<Thin16>("thin_16" + suffix)
                                       : Kernel::of<Thin64>("thin_64" + suffix);
  }

  // Makes all shared memory available that the kernel needs. Returns how many of its blocks run at the same time.
  int blocks_at_once(const Kernel& kernel) const {
    const CUfunction function = module_.function(kernel.name.c_str());
    CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.bytes));
    int fit;
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, kernel.threads, kernel.bytes));
    return fit * multiprocessors_;
  }
  void launch(const Kernel& kernel, Linear linear, int blocks) const {
    void* arguments[] = {&linear};  // the driver copies it
    CU_CHECK(cuLaunchKernel(module_.function(kernel.name.c_str()), blocks, 1, 1, kernel.threads, 1, 1, kernel.bytes,
                            nullptr, arguments, nullptr));
  }

  // A product of many rows: as many blocks as run at once compute all tiles. Without `to`, the result is c.
  void launch(const Kernel& kernel, Problem& problem, void* to = nullptr) const {
    Linear linear = problem.linear(std::max(1, kBand / kernel.rows));
    if (to != nullptr) linear.c = to;
    const int tiles = linear.rows / kernel.rows * (linear.columns / kernel.columns);
    launch(kernel, linear, std::min(tiles, blocks_at_once(kernel)));
  }
  // The epilogue as a kernel of its own.
  void launch_pass(const Fused& one, Problem& problem) const {
    Linear linear = problem.linear(1);
    linear.a = problem.wide();
    launch({one.separate, 512, 0, 1, 1}, linear, 4 * multiprocessors_);
  }
  void launch_separately(const Fused& one, Problem& problem) const {
    launch(full("plain"), problem, problem.wide());
    launch_pass(one, problem);
  }

  // A product of a few rows, whose steps are divided among this many blocks.
  void launch_thin(Problem& problem, int blocks, bool activated = false) {
    const Kernel kernel = thin(problem.sides(), activated);
    const Sides sides = problem.sides();
    blocks_at_once(kernel);
    const std::size_t tiles =
        std::size_t(sides.rows + kernel.rows - 1) / kernel.rows * (sides.columns / kernel.columns);
    const std::size_t bytes = sizeof(float) * 2 * blocks * kernel.rows * kernel.columns;
    if (partial_bytes_ < bytes) partial_ = cu::Memory(partial_bytes_ = bytes);
    if (counters_ < tiles) {
      finished_ = cu::Memory(sizeof(unsigned) * (counters_ = tiles));
      CU_CHECK(cuMemsetD32(finished_.address, 0, tiles));
    }
    Linear linear = problem.linear(1);
    linear.partial = reinterpret_cast<float*>(partial_.address);
    linear.finished = reinterpret_cast<unsigned*>(finished_.address);
    launch(kernel, linear, blocks);
  }

  // One, two and four blocks for each tile, and equal shares for all multiprocessors.
  std::vector<int> block_counts(Sides sides) const {
    const Kernel kernel = thin(sides);
    const int steps = sides.inner / Thin16::kDepth;
    const int tiles = (sides.rows + kernel.rows - 1) / kernel.rows * (sides.columns / kernel.columns);
    return {tiles, 2 * tiles, 4 * tiles, std::min(multiprocessors_, tiles * steps)};
  }

  // Returns the name of the first kernel whose result is wrong, or "".
  std::string verify_fused(Problem& problem) {
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      problem.fill(data);
      launch(full("plain"), problem);
      if (problem.wrong(Epilogue::kNone, false) != 0) return "plain";
      for (const Fused& one : kEpilogues) {
        launch(full(one.kernel), problem);
        if (problem.wrong(one.epilogue, false) != 0) return one.kernel;
        launch_separately(one, problem);
        if (problem.wrong(one.epilogue, true) != 0) return one.separate;
      }
    }
    return "";
  }
  std::string verify_thin(Problem& problem, int blocks) {
    for (const Data data : {Data::kIntegers, Data::kNormals}) {
      problem.fill(data);
      for (const bool activated : {false, true}) {
        launch_thin(problem, blocks, activated);
        const unsigned wrong = problem.wrong(activated ? Epilogue::kBiasGelu : Epilogue::kNone, false);
        if (wrong != 0) return thin(problem.sides(), activated).name;
      }
    }
    return "";
  }

  bool measure_fused(Problem& problem) {
    if (const std::string wrong = verify_fused(problem); !wrong.empty()) {
      std::printf("%s: WRONG, nothing is timed\n", wrong.c_str());
      return false;
    }
    // All of them alternate, because the clock depends on what has run before.
    std::vector<std::function<void()>> work{[&] { launch(full("plain"), problem); }};
    for (const Fused& one : kEpilogues) {
      work.emplace_back([&] { launch_separately(one, problem); });
      work.emplace_back([&] { launch(full(one.kernel), problem); });
    }
    std::vector<std::vector<double>> seconds(work.size());
    for (int round = 0; round < (large_ ? kRounds : 1); ++round) {
      for (std::size_t i = 0; i < work.size(); ++i) {
        seconds[i].push_back(sustained_seconds(work[i], kBudget / kRounds));
      }
    }
    const double alone = median(seconds[0]);
    const auto row = [&](const char* epilogue, const char* where, double time) {
      std::printf("%-11s %-20s %9.3f  %6.3f\n", epilogue, where, time * 1e3, time / alone);
    };
    row("none", "", alone);
    for (std::size_t i = 0; i < std::size(kEpilogues); ++i) {
      row(kEpilogues[i].text, "a second kernel", median(seconds[2 * i + 1]));
      row(kEpilogues[i].text, "in registers", median(seconds[2 * i + 2]));
    }
    return true;
  }

  bool measure_thin(Sides sides) {
    Problem problem(module_, sides, kLayers);
    const std::vector<int> counts = block_counts(sides);
    for (const int blocks : counts) {
      if (verify_thin(problem, blocks).empty()) continue;
      std::printf("%4d %8d %6d   WRONG: not timed\n", sides.rows, sides.columns, sides.inner);
      return false;
    }
    const auto multiply = [&](const CublasLt::Algorithm& algorithm) {
      const Linear linear = problem.linear(1);
      const auto address = [](const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
      return library_.multiply(address(linear.a), address(linear.b), address(linear.c), algorithm);
    };
    std::vector<CublasLt::Algorithm> algorithms;
    for (const auto& algorithm : library_.algorithms(sides, false)) {
      if (multiply(algorithm) && problem.wrong(Epilogue::kNone, false) == 0) algorithms.push_back(algorithm);
    }
    int best = -1;
    double shortest = 0;
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      const double time = sustained_seconds([&] { multiply(algorithms[i]); }, kShortBudget);
      if (best < 0 || time < shortest) shortest = time, best = static_cast<int>(i);
    }
    std::vector<std::vector<double>> ours(counts.size());
    std::vector<double> theirs;
    for (int round = 0; round < (large_ ? kRounds : 1); ++round) {
      for (std::size_t i = 0; i < counts.size(); ++i) {
        ours[i].push_back(sustained_seconds([&] { launch_thin(problem, counts[i]); }, kBudget / kRounds / 3));
      }
      if (best >= 0) {
        theirs.push_back(sustained_seconds([&] { multiply(algorithms[best]); }, kBudget / kRounds / 3));
      }
    }
    std::printf("%4d %8d %6d ", sides.rows, sides.columns, sides.inner);
    double fastest = median(ours[0]);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double time = median(ours[i]);
      fastest = std::min(fastest, time);
      std::printf(i + 1 < counts.size() ? " %7.1f" : "   %7.1f", time * 1e6);
    }
    if (best < 0) {
      std::printf("          -      -\n");
    } else {
      std::printf("    %7.1f  %5.3f\n", median(theirs) * 1e6, median(theirs) / fastest);
    }
    return true;
  }

  // Whether the device is fast enough for the shapes of a language model.
  bool is_fast() {
    Problem trial(module_, kSmall);
    trial.fill(Data::kNormals);
    return cu::median_device_seconds([&] { launch(full("plain"), trial); }, 1) < 1e-3;
  }
  std::vector<Sides> thin_sides() const {
    if (large_) return {std::begin(kThinLarge), std::end(kThinLarge)};
    return {std::begin(kThinSmall), std::end(kThinSmall)};
  }

  cu::Module module_{cu::image("kernels.ptx")};
  CublasLt library_;
  const int multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  bool large_ = false;
  std::size_t partial_bytes_ = 0, counters_ = 0;
  cu::Memory partial_, finished_;
};

int main(int argc, char** argv) try {
  cu::Primary context;
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (major < 8) {
    std::printf("skipped: mma with bfloat16 needs compute capability 8.0, and this device has %d.%d\n", major, minor);
    return 77;
  }
  Lesson lesson;
  const std::string option = argc > 1 ? argv[1] : "";
  if (option == "--verify") return lesson.verify() ? 0 : 1;
  if (option == "--profile") {
    lesson.profile();
    return 0;
  }
  return lesson.run(context.device) ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
