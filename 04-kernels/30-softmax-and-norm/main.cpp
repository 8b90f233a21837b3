// Softmax and RMSNorm of rows, one idea after the other. All elements of every result are compared with double
// precision, then the kernels are timed with random normals.
//   --verify                only verifies small problems
//   --profile COLUMNS ROWS  launches each kernel once, for a profiler
//   --list COLUMNS…         prints how each kernel is launched, for beside_torch.py
#include "04-kernels/attribute.hpp"
#include "04-kernels/repeated.hpp"
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr std::size_t kElements = std::size_t{128} << 20;  // of a matrix, on a fast device
constexpr double kBudget = 0.1, kShortBudget = 0.005;      // seconds of measurement per kernel; on a slow device
constexpr float kEpsilon = 1e-6F;

enum class Op { kSoftmax, kSoftmaxBackward, kRmsNorm, kRmsNormBackward };
constexpr Op kOps[] = {Op::kSoftmax, Op::kSoftmaxBackward, Op::kRmsNorm, Op::kRmsNormBackward};
constexpr const char* kNames[] = {"softmax", "softmax_backward", "rms_norm", "rms_norm_backward"};
constexpr int kMatrices[] = {2, 3, 4, 4};  // that must be loaded or stored
constexpr int kInputs[] = {kSoftmaxInputs, kSoftmaxBackwardInputs, kRmsNormInputs, kRmsNormBackwardInputs};
const char* name(Op op) { return kNames[static_cast<int>(op)]; }

struct Type {
  const char* name;
  int bytes;
};
constexpr Type kFloat = {"float", 4}, kBFloat16 = {"bfloat16", 2};

// The same shape for rows of one block.
Shape alone(Shape shape) {
  shape.clustered = false;
  return shape;
}

// The shapes for long rows, by op and type: what was fastest on an H200.
struct Plan {
  bool whole;    // whether one block takes rows of up to 64 KB
  Shape shared;  // for rows that several blocks share
};
constexpr Plan kPlans[][2] = {{{true, kAheadLong}, {true, kCluster}},  // float, bfloat16
                              {{true, kAhead}, {false, kAhead}},
                              {{true, kAhead}, {true, kAhead}}};

// The shapes of an op's kernels, from short rows to long ones. The last one takes any row that fits.
std::vector<Shape> shapes(Op op, const Type& type) {
  if (op == Op::kRmsNormBackward && type.bytes == 4) {
    return {kSumTiny, kSumSmall, kSumMedium, kSumLarge, alone(kSumAhead), kSumAheadLong, kSumAnywhere<4>};
  }
  if (op == Op::kRmsNormBackward) return {kSumTiny, kSumSmall, kSumMedium, kSumLarge, kSumAhead, kSumAnywhere<2>};
  const Plan& plan = kPlans[static_cast<int>(op)][type.bytes == 2];
  const Shape whole = plan.whole ? kWhole : kLarge;
  return {kWarp, kTwoWarps, kSmall, kMedium, kLarge, whole, plan.shared, kAheadLong, kAnywhere};
}
// The blocks that share a row of so many bytes, or 0 if no cluster is large enough.
int blocks_for(const Shape& shape, std::size_t bytes) {
  int blocks = 1;
  while (blocks * std::size_t(shape.bytes()) < bytes) blocks *= 2;
  return blocks > (shape.clustered ? kMostBlocks : 1) ? 0 : blocks;
}
struct Choice {
  Shape shape;
  int blocks;
};
Choice choose(Op op, const Type& type, int columns) {
  const std::size_t bytes = std::size_t(type.bytes) * columns;
  for (const Shape& shape : shapes(op, type)) {
    const int blocks = blocks_for(shape, bytes);
    if (blocks > 0 && (!shape.aligned || bytes % 16 == 0)) return {shape, blocks};
  }
  throw std::invalid_argument("no kernel keeps rows of " + std::to_string(columns) + " elements in registers");
}

// How a kernel is launched.
struct Launch {
  std::string kernel;
  unsigned threads, blocks, rows, teams, shared;  // of a block, that share a row, of a block, at most, bytes of a block

  // How many teams compute so many rows. If that takes them several turns, all of them have about equally many rows.
  unsigned teams_for(unsigned all_rows) const {
    const unsigned groups = std::max((all_rows + rows - 1) / rows, 1U), turns = (groups - 1) / teams + 1;
    return (groups - 1) / turns + 1;
  }
  // Calls function(config) for a launch of so many rows.
  template <class Function>
  void configured(int all_rows, CUstream stream, Function function) const {
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = blocks, cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = teams_for(all_rows) * blocks, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = threads, config.blockDimY = config.blockDimZ = 1, config.sharedMemBytes = shared;
    config.hStream = stream, config.attrs = &cluster, config.numAttrs = blocks > 1;
    function(config);
  }
};
// How many teams of a launch the device runs at once.
int concurrent_teams(const Launch& launch, CUfunction function) {
  int teams = 0;
  if (launch.blocks == 1) {
    CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&teams, function, launch.threads, launch.shared));
    return teams * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  }
  launch.configured(1, nullptr, [&](const CUlaunchConfig& config) {
    CU_CHECK(cuOccupancyMaxActiveClusters(&teams, function, &config));
  });
  return teams;
}
Launch launch_of(const cu::Module& module, Op op, const Type& type, const Choice& choice) {
  const Shape& shape = choice.shape;
  Launch launch = {std::string(name(op)) + "_" + type.name + "_" + shape.name,
                   unsigned(shape.threads * shape.rows),
                   unsigned(choice.blocks),
                   unsigned(shape.rows),
                   UINT_MAX,
                   0};
  const CUfunction function = module.function(launch.kernel.c_str());
  if (shape.ahead) launch.shared = kInputs[static_cast<int>(op)] * shape.bytes();
  CU_CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared));
  if (!shape.ahead && op != Op::kRmsNormBackward) return launch;
  launch.teams = std::max(concurrent_teams(launch, function), 1);  // they loop over the rows
  return launch;
}

// A kernel of the ladder, and the first number of columns that it is made for.
struct Rung {
  const char *kernel, *idea;
  int columns;
  bool keeps_rows() const { return std::string(kernel) == "registers" || std::string(kernel) == "ahead"; }
};
constexpr Rung kLadder[] = {{"three_passes", "largest, sum, results", 0},
                            {"online", "largest and sum in one pass", 0},
                            {"wide", "four 16-byte loads in flight", 0},
                            {"registers", "rows stay in registers", 0},
                            {"ahead", "next row is copied meanwhile", 1 << 15}};
const Rung& kBest = kLadder[std::size(kLadder) - 1];

class Problem {
 public:
  // With few teams, each of them has several rows.
  Problem(const cu::Module& module, const Type& type, int rows, int columns, float factor = 1, unsigned masked = 0,
          unsigned most_teams = UINT_MAX)
      : module_(module), type_(type), count_(std::size_t(rows) * columns), most_teams_(most_teams) {
    weight_ = cu::Memory(bytes_of(columns));
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    fill(x_, count_, 1, factor, masked), fill(residual_, count_, 2, 1), fill(weight_, columns, 3, 1);
    fill(dy_, count_, 4, 1), fill(dh_, count_, 5, 1);
    rows_ = {pointer(x_),  pointer(residual_), pointer(weight_), pointer(y_), pointer(h_), pointer(dy_),
             pointer(dh_), pointer(dx_),       nullptr,          rows,        columns,     kEpsilon};
    const std::size_t teams = std::min<unsigned>(launch_of(Op::kRmsNormBackward, kBest).teams, std::max(rows, 1));
    parts_ = cu::Memory(4 * teams * columns + 4), weight_gradient_ = cu::Memory(bytes_of(columns));
    sums_ = cu::Memory(16 * std::size_t(columns) + 16);
    rows_.parts = static_cast<float*>(pointer(parts_));
  }

  std::size_t bytes() const { return type_.bytes * count_; }  // of a matrix

  void launch(Op op, const Rung& rung, CUstream stream = nullptr) const {
    if (rows_.rows == 0 || rows_.columns == 0) return;  // a grid of no blocks is an error
    Rows rows = rows_;
    void* arguments[] = {&rows};
    if (!rung.keeps_rows()) {
      const CUfunction function = module_.function(full_name(op, rung.kernel).c_str());
      CU_CHECK(cuLaunchKernel(function, rows.rows, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr));
      return;
    }
    const Launch launch = launch_of(op, rung);
    launch.configured(rows.rows, stream, [&](const CUlaunchConfig& config) {
      CU_CHECK(cuLaunchKernelEx(&config, module_.function(launch.kernel.c_str()), arguments, nullptr));
    });
    if (op != Op::kRmsNormBackward) return;
    int count = static_cast<int>(launch.teams_for(rows.rows)), columns = rows.columns;
    CUdeviceptr from = parts_.address, to = weight_gradient_.address;
    void* of_sum[] = {&from, &count, &columns, &to};
    CU_CHECK(cuLaunchKernel(module_.function((std::string("add_parts_") + type_.name).c_str()),
                            (columns + kSumColumns - 1) / kSumColumns, 1, 1, kSumColumns * kSumRows, 1, 1, 0, stream,
                            of_sum, nullptr));
  }

  // Prepares the input of an op whose input is another op's result.
  void prepare(Op op) const {
    if (op == Op::kSoftmaxBackward) launch(Op::kSoftmax, kLadder[0]);
    if (op == Op::kRmsNormBackward) fill(h_, count_, 6, 1);
  }

  // Compares all elements of the op's results, and overwrites them with NaN.
  unsigned wrong(Op op) const {
    if (count_ == 0) return 0;
    CU_CHECK(cuMemsetD8(wrong_.address, 0, sizeof(unsigned)));
    CU_CHECK(cuMemsetD8(sums_.address, 0, 16 * std::size_t(rows_.columns)));
    Rows rows = rows_;
    CUdeviceptr wrong = wrong_.address, sums = sums_.address, gradient = weight_gradient_.address;
    void* arguments[] = {&rows, &wrong, &sums};
    run("compare_" + std::string(name(op)), rows.rows, arguments);
    if (op == Op::kRmsNormBackward) {
      void* of_sums[] = {&gradient, &sums, &rows.columns, &wrong};
      run("compare_sums", (rows.columns + kThreads - 1) / kThreads, of_sums);
    }
    unsigned found;
    CU_CHECK(cuMemcpyDtoH(&found, wrong_.address, sizeof found));
    for (const auto& [memory, bytes] : results(op)) CU_CHECK(cuMemsetD8(memory->address, 0xff, bytes));
    return found;
  }

  std::vector<char> bits(Op op) const {
    std::vector<char> all;
    for (const auto& [memory, bytes] : results(op)) {
      const std::size_t before = all.size();
      all.resize(before + bytes);
      if (bytes > 0) CU_CHECK(cuMemcpyDtoH(all.data() + before, memory->address, bytes));
    }
    return all;
  }

  // Copies one matrix to another.
  void copy() const { CU_CHECK(cuMemcpyDtoDAsync(dx_.address, dy_.address, bytes(), nullptr)); }

 private:
  std::string full_name(Op op, const char* suffix) const {
    return std::string(name(op)) + "_" + suffix + "_" + type_.name;
  }
  std::size_t bytes_of(std::size_t count) const { return type_.bytes * count + 16; }  // an allocation must not be empty
  // The launch of a kernel that keeps rows in registers. Looking it up takes longer than a launch.
  const Launch& launch_of(Op op, const Rung& rung) const {
    const bool in_one_go = op == Op::kSoftmax && std::string(rung.kernel) == "registers";
    auto& launch = launches_[static_cast<int>(op)][in_one_go];
    if (!launch) {
      Choice choice = choose(op, type_, rows_.columns);
      if (in_one_go && choice.shape.ahead)
        choice = {kCluster, blocks_for(kCluster, type_.bytes * std::size_t(rows_.columns))};
      launch = ::launch_of(module_, op, type_, choice);
      if (launch->teams != UINT_MAX) launch->teams = std::min(launch->teams, most_teams_);
    }
    return *launch;
  }
  std::vector<std::pair<const cu::Memory*, std::size_t>> results(Op op) const {
    if (op == Op::kSoftmax) return {{&y_, bytes()}};
    if (op == Op::kSoftmaxBackward) return {{&dx_, bytes()}};
    if (op == Op::kRmsNorm) return {{&y_, bytes()}, {&h_, bytes()}};
    return {{&dx_, bytes()}, {&weight_gradient_, std::size_t(type_.bytes) * rows_.columns}};
  }
  void run(const std::string& kernel, unsigned blocks, void** arguments) const {
    const CUfunction function = module_.function((kernel + "_" + type_.name).c_str());
    CU_CHECK(cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void fill(const cu::Memory& memory, std::size_t count, unsigned seed, float factor, unsigned masked = 0) const {
    CUdeviceptr address = memory.address;
    seed *= 0x9e3779b9U;
    void* arguments[] = {&address, &count, &seed, &factor, &masked};
    run("fill", static_cast<unsigned>(std::min<std::size_t>(count / kThreads + 1, 4096)), arguments);
  }

  const cu::Module& module_;
  Type type_;
  std::size_t count_;
  unsigned most_teams_;
  cu::Memory x_{bytes_of(count_)}, residual_{bytes_of(count_)}, y_{bytes_of(count_)}, h_{bytes_of(count_)},
      dy_{bytes_of(count_)}, dh_{bytes_of(count_)}, dx_{bytes_of(count_)}, wrong_{16};
  cu::Memory weight_, parts_, weight_gradient_, sums_;
  Rows rows_;
  mutable std::optional<Launch> launches_[std::size(kOps)][2];
};

// Rows and columns of small problems: whole vectors and single elements, one more or less than a shape holds, one
// column, no rows, no columns, rows of several blocks, large elements, and rows that are masked in part or completely.
struct Small {
  int rows, columns;
  float factor = 1;
  unsigned masked = 0;
};
constexpr Small kSmallProblems[] = {{5, 64},         {3, 1000, 30, 3}, {2, 1},     {1, 7, 100, 3}, {2, 40, 1, 1},
                                    {0, 16},         {2, 0},           {4, 513},   {2, 1024},      {3, 2056},
                                    {2, 4100, 1, 3}, {1, 8200, 1000},  {3, 36000}, {1, 16384 + 4}};

class Lesson {
 public:
  bool verify() const {
    int results = 0, failures = 0;
    for (const Type& type : {kFloat, kBFloat16}) {
      for (const Small& small : kSmallProblems) {
        const Problem problem(module_, type, small.rows, small.columns, small.factor, small.masked, 2);
        for (const Op op : kOps) {
          for (const Rung& rung : kLadder) {
            if (&rung != &kBest && op != Op::kSoftmax) continue;
            if (std::string(rung.kernel) == "wide" && type.bytes * small.columns % 16 != 0) continue;
            ++results, failures += !is_right(problem, op, rung, small, type);
          }
        }
      }
    }
    if (failures == 0)
      std::printf("%d results of small problems are right, and have the same bits in a graph\n", results);
    return failures == 0;
  }

  // Every kernel of the ladder, for float.
  bool climb() const {
    bool right = true;
    const std::vector<int> columns = is_fast_ ? std::vector<int>{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17}
                                              : std::vector<int>{1 << 6, 1 << 8, 1 << 10, 1 << 15, 1 << 16};
    std::printf("\nshare of a copy, float             columns");
    for (const int n : columns) std::printf(" %7d", n);
    std::printf("\n");
    for (const Rung& rung : kLadder) {
      std::printf("%-13s %-28s", rung.kernel, rung.idea);
      for (const int n : columns) {
        if (n < rung.columns)
          std::printf("       -");
        else
          right &= print_share(kFloat, n, Op::kSoftmax, rung);
      }
      std::printf("\n");
    }
    return right;
  }

  void profile(int columns, int rows) const {
    for (const Type& type : {kFloat, kBFloat16}) {
      const Problem problem(module_, type, rows, columns);
      for (const Rung& rung : kLadder) {
        if (columns >= rung.columns) problem.launch(Op::kSoftmax, rung);
      }
      for (const Op op : kOps) {
        if (op != Op::kSoftmax) problem.launch(op, kBest);
      }
      CU_CHECK(cuCtxSynchronize());
    }
  }

  // The last kernels of all ops.
  bool compare() const {
    bool right = true;
    for (const Type& type : {kFloat, kBFloat16}) {
      std::printf("\nshare of a copy, %-8s  columns", type.name);
      const std::vector<int> columns =
          is_fast_ ? std::vector<int>{1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17}
                   : std::vector<int>{1 << 10, 1 << 12};
      for (const int n : columns) std::printf(" %7d", n);
      std::printf("\n");
      for (const Op op : kOps) {
        std::printf("%-34s", name(op));
        for (const int n : columns) right &= print_share(type, n, op, kBest);
        std::printf("\n");
      }
    }
    return right;
  }

 private:
  int rows_of(int columns) const { return static_cast<int>(is_fast_ ? kElements / columns : 1); }
  bool print_share(const Type& type, int columns, Op op, const Rung& rung) const {
    const Problem problem(module_, type, rows_of(columns), columns);
    problem.prepare(op);
    problem.launch(op, rung);
    if (problem.wrong(op) > 0) {
      std::printf("   WRONG");
      return false;
    }
    problem.prepare(op);
    const double budget = is_fast_ ? kBudget : kShortBudget;
    const double copy = sustained_seconds([&] { problem.copy(); }, budget);
    const double seconds = sustained_seconds([&] { problem.launch(op, rung); }, budget);
    std::printf("    %4.2f", copy / 2 * kMatrices[static_cast<int>(op)] / seconds);
    std::fflush(stdout);
    return true;
  }

  // Whether the results are right, and a launch in a graph computes the same bits.
  bool is_right(const Problem& problem, Op op, const Rung& rung, const Small& small, const Type& type) const {
    problem.prepare(op);
    problem.launch(op, rung);
    const std::vector<char> bits = problem.bits(op);
    const unsigned wrong = problem.wrong(op);
    problem.prepare(op);
    Repeated(1, [&](CUstream stream) { problem.launch(op, rung, stream); }).launch();
    const bool same = problem.bits(op) == bits;
    if (wrong > 0 || !same) {
      std::printf("WRONG: %s %s, %d x %d %s: ", name(op), rung.kernel, small.rows, small.columns, type.name);
      std::printf(wrong > 0 ? "%u elements\n" : "other bits in a graph\n", wrong);
    }
    return wrong == 0 && same;
  }

  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const Problem trial(module_, kFloat, 256, 1024);
    return cu::median_device_seconds([&] { trial.launch(Op::kSoftmax, kLadder[1]); }, 1) < 1e-4;
  }

  const cu::Module module_{cu::image("kernels.ptx")};
  const bool is_fast_ = measure_whether_fast();
};

// For each op, type and number of columns: the kernel, the threads of a block, the blocks that share a row, the rows of
// a block, the rows that are computed at once, and the bytes of shared memory.
void list(const std::vector<int>& all_columns) {
  const cu::Module module(cu::image("kernels.ptx"));
  for (const Type& type : {kFloat, kBFloat16}) {
    for (const Op op : kOps) {
      for (const int columns : all_columns) {
        const Launch launch = launch_of(module, op, type, choose(op, type, columns));
        std::printf("%s %s %d %s %u %u %u %u %u\n", name(op), type.name, columns, launch.kernel.c_str(), launch.threads,
                    launch.blocks, launch.rows, launch.teams, launch.shared);
      }
    }
  }
}

int main(int argc, char** argv) try {
  const cu::Primary context;
  if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 9) {
    std::printf("skipped: clusters need compute capability 9.0\n");
    return 77;
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--list") {
    std::vector<int> columns;
    for (int i = 2; i < argc; ++i) columns.push_back(std::max(std::atoi(argv[i]), 1));
    list(columns);
    return 0;
  }
  const Lesson lesson;
  if (mode == "--verify") return lesson.verify() ? 0 : 1;
  if (mode == "--profile" && argc > 3) {
    lesson.profile(std::max(std::atoi(argv[2]), 1), std::max(std::atoi(argv[3]), 1));
    return 0;
  }
  cu::print_device(context.device);
  const bool right = lesson.verify();
  return lesson.climb() && lesson.compare() && right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
