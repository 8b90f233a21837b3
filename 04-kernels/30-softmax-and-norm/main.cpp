// Softmax and RMSNorm of rows, one idea after the other. All elements of every result are compared with double
// precision, then the kernels are timed with random normals.
//   --verify           only verifies small problems
//   --profile COLUMNS  launches each kernel once, for a profiler
//   --list             prints how each kernel is launched, for beside_torch.py
#include "04-kernels/sustained.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "shape.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
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
const char* name(Op op) { return kNames[static_cast<int>(op)]; }

struct Type {
  const char* name;
  int bytes;
};
constexpr Type kFloat = {"float", 4}, kBFloat16 = {"bfloat16", 2};

// The shapes of an op's kernels, from short rows to long ones. The last one takes any row that fits.
std::vector<Shape> shapes(Op op, const Type& type) {
  if (op != Op::kRmsNormBackward) return {kWarp, kSmall, kLarge, kCluster, kAnywhere};
  if (type.bytes == 2) return {kSumSmall, kSumLarge, kSumCluster<2>, kSumAnywhere<2>};
  return {kSumSmall, kSumLarge, kSumCluster<4>, kSumAnywhere<4>};
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

// A kernel of the ladder: one of the first three, or "" for those that keep rows in registers.
struct Rung {
  const char *kernel, *idea;
};
constexpr Rung kLadder[] = {{"three_passes", "largest, sum, results"},
                            {"online", "largest and sum in one pass"},
                            {"wide", "16 bytes per load, 4 loads ahead"},
                            {"", "rows stay in registers"}};

class Problem {
 public:
  Problem(const cu::Module& module, const Type& type, int rows, int columns, float factor = 1, bool masked = false)
      : module_(module), type_(type), count_(std::size_t(rows) * columns) {
    CU_CHECK(cuDeviceGetAttribute(&multiprocessors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    weight_ = cu::Memory(bytes_of(columns));
    const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
    fill(x_, count_, 1, factor, masked), fill(residual_, count_, 2, 1), fill(weight_, columns, 3, 1);
    fill(dy_, count_, 4, 1), fill(dh_, count_, 5, 1);
    rows_ = {pointer(x_),  pointer(residual_), pointer(weight_), pointer(y_),  pointer(h_),  pointer(dy_),
             pointer(dh_), pointer(dx_),       nullptr,          rows,        columns,      kEpsilon};
    const int teams = parts();
    parts_ = cu::Memory(4 * std::size_t(teams) * columns + 4), weight_gradient_ = cu::Memory(bytes_of(columns));
    sums_ = cu::Memory(16 * std::size_t(columns) + 16);
    rows_.parts = static_cast<float*>(pointer(parts_));
  }

  std::size_t bytes() const { return type_.bytes * count_; }  // of a matrix

  void launch(Op op, const Rung& rung, CUstream stream = nullptr) const {
    if (rows_.rows == 0 || rows_.columns == 0) return;  // a grid of no blocks is an error
    Rows rows = rows_;
    void* arguments[] = {&rows};
    if (*rung.kernel != '\0') {
      const CUfunction function = module_.function(full_name(op, rung.kernel).c_str());
      CU_CHECK(cuLaunchKernel(function, rows.rows, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr));
      return;
    }
    const Choice choice = choose(op, type_, rows.columns);
    const std::string kernel = std::string(name(op)) + "_" + type_.name + "_" + choice.shape.name;
    const unsigned teams = op == Op::kRmsNormBackward ? parts() : (rows.rows + choice.shape.rows - 1) / choice.shape.rows;
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = choice.blocks, cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = teams * choice.blocks, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = choice.shape.threads * choice.shape.rows, config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream, config.attrs = &cluster, config.numAttrs = choice.blocks > 1;
    CU_CHECK(cuLaunchKernelEx(&config, module_.function(kernel.c_str()), arguments, nullptr));
    if (op != Op::kRmsNormBackward) return;
    int count = teams, columns = rows.columns;
    CUdeviceptr from = parts_.address, to = weight_gradient_.address;
    void* of_sum[] = {&from, &count, &columns, &to};
    CU_CHECK(cuLaunchKernel(module_.function((std::string("add_parts_") + type_.name).c_str()),
                            (columns + kSumColumns - 1) / kSumColumns, 1, 1, kSumColumns * kSumRows, 1, 1, 0, stream,
                            of_sum, nullptr));
  }

  // Prepares the input of an op whose input is another op's result.
  void prepare(Op op) const {
    if (op == Op::kSoftmaxBackward) launch(Op::kSoftmax, {"three_passes", ""});
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
  // The teams that share the rows of rms_norm_backward.
  int parts() const {
    const Choice choice = choose(Op::kRmsNormBackward, type_, rows_.columns);
    return std::clamp(multiprocessors_ * 2048 / choice.shape.threads / choice.blocks, 1, std::max(rows_.rows, 1));
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
  void fill(const cu::Memory& memory, std::size_t count, unsigned seed, float factor, bool masked = false) const {
    CUdeviceptr address = memory.address;
    seed *= 0x9e3779b9U;
    void* arguments[] = {&address, &count, &seed, &factor, &masked};
    run("fill", static_cast<unsigned>(std::min<std::size_t>(count / kThreads + 1, 4096)), arguments);
  }

  const cu::Module& module_;
  Type type_;
  std::size_t count_;
  int multiprocessors_;
  cu::Memory x_{bytes_of(count_)}, residual_{bytes_of(count_)}, y_{bytes_of(count_)},
      h_{bytes_of(count_)}, dy_{bytes_of(count_)}, dh_{bytes_of(count_)}, dx_{bytes_of(count_)}, wrong_{16};
  cu::Memory weight_, parts_, weight_gradient_, sums_;
  Rows rows_;
};

// Rows and columns of small problems: whole vectors and single elements, one more or less than a shape holds, one
// column, no rows, and rows of several blocks.
struct Small {
  int rows, columns;
  float factor = 1;
  bool masked = false;
};
constexpr Small kSmallProblems[] = {{5, 64},         {3, 1000, 30, true}, {2, 1},          {1, 7, 100, true}, {4, 513},
                                    {0, 16},         {2, 1024},           {3, 2056},       {2, 4100, 1, true},
                                    {1, 8200, 1000}, {2, 20000},          {1, 16384 + 4}};

class Lesson {
 public:
  bool verify() const {
    int results = 0, failures = 0;
    for (const Type& type : {kFloat, kBFloat16}) {
      for (const Small& small : kSmallProblems) {
        const Problem problem(module_, type, small.rows, small.columns, small.factor, small.masked);
        for (const Op op : kOps) {
          for (const Rung& rung : kLadder) {
            if (*rung.kernel != '\0' && op != Op::kSoftmax) continue;
            if (std::string(rung.kernel) == "wide" && type.bytes * small.columns % 16 != 0) continue;
            ++results, failures += !is_right(problem, op, rung, small);
          }
        }
      }
    }
    if (failures == 0) std::printf("%d results of small problems are right, and have the same bits in a graph\n", results);
    return failures == 0;
  }

  // Every kernel of the ladder, for float.
  bool climb() const {
    bool right = true;
    const std::vector<int> columns = is_fast_ ? std::vector<int>{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17}
                                              : std::vector<int>{1 << 10, 1 << 12};
    std::printf("\nshare of a copy, float             columns");
    for (const int n : columns) std::printf(" %7d", n);
    std::printf("\n");
  
    for (const Rung& rung : kLadder) {
      std::printf("%-13s %-28s", *rung.kernel == '\0' ? "registers" : rung.kernel, rung.idea);
      for (const int n : columns) right &= print_share(kFloat, n, Op::kSoftmax, rung);
      std::printf("\n");
    }
    return right;
  }

  void profile(int columns) const {
    for (const Type& type : {kFloat, kBFloat16}) {
      const Problem problem(module_, type, static_cast<int>(kElements / columns), columns);
      for (const Rung& rung : kLadder) problem.launch(Op::kSoftmax, rung);
      for (const Op op : kOps) {
        if (op != Op::kSoftmax) problem.launch(op, kLadder[std::size(kLadder) - 1]);
      }
      CU_CHECK(cuCtxSynchronize());
    }
  }

  // The last kernels of all ops.
  bool compare() const {
    bool right = true;
    for (const Type& type : {kFloat, kBFloat16}) {
      std::printf("\nshare of a copy, %-8s  columns", type.name);
      const std::vector<int> columns = is_fast_ ? std::vector<int>{1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17}
                                                : std::vector<int>{1 << 10, 1 << 12};
      for (const int n : columns) std::printf(" %7d", n);
      std::printf("\n");
      for (const Op op : kOps) {
        std::printf("%-33s", name(op));
        for (const int n : columns) right &= print_share(type, n, op, kLadder[std::size(kLadder) - 1]);
        std::printf("\n");
      }
    }
    return right;
  }

 private:
  bool print_share(const Type& type, int columns, Op op, const Rung& rung) const {
    const int rows = is_fast_ ? static_cast<int>(kElements / columns) : 4;
    const Problem problem(module_, type, rows, columns);
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
  bool is_right(const Problem& problem, Op op, const Rung& rung, const Small& small) const {
    problem.prepare(op);
    problem.launch(op, rung);
    const std::vector<char> bits = problem.bits(op);
    const unsigned wrong = problem.wrong(op);
    problem.prepare(op);
    launch_in_graph(problem, op, rung);
    const bool same = problem.bits(op) == bits;
    if (wrong > 0 || !same) {
      std::printf("WRONG: %s %s, %d x %d: ", name(op), rung.kernel, small.rows, small.columns);
      std::printf(wrong > 0 ? "%u elements\n" : "other bits in a graph\n", wrong);
    }
    return wrong == 0 && same;
  }

  static void launch_in_graph(const Problem& problem, Op op, const Rung& rung) {
    const cu::Stream stream;
    CUgraph graph;
    CUgraphExec executable;
    CU_CHECK(cuCtxSynchronize());  // the stream does not wait for the default stream, which clears the results
    CU_CHECK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    problem.launch(op, rung, stream.handle);
    CU_CHECK(cuStreamEndCapture(stream.handle, &graph));
    CU_CHECK(cuGraphInstantiate(&executable, graph, 0));
    CU_CHECK(cuGraphLaunch(executable, stream.handle));
    CU_CHECK(cuStreamSynchronize(stream.handle));
    CU_CHECK(cuGraphExecDestroy(executable));
    CU_CHECK(cuGraphDestroy(graph));
  }

  // Whether a small problem takes less than a millisecond.
  bool measure_whether_fast() const {
    const Problem trial(module_, kFloat, 256, 1024);
    return cu::median_device_seconds([&] { trial.launch(Op::kSoftmax, kLadder[1]); }, 1) < 1e-4;
  }

  const cu::Module module_{cu::image("kernels.ptx")};
  const bool is_fast_ = measure_whether_fast();
};

int attribute(CUdevice_attribute which) {
  CUdevice device;
  int value;
  CU_CHECK(cuCtxGetDevice(&device));
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// For each op, type and number of columns: the kernel, the threads of a block, the blocks that share a row, and the rows
// of a block.
int list() {
  for (const Type& type : {kFloat, kBFloat16}) {
    for (const Op op : kOps) {
      for (int columns = 1 << 10; columns <= 1 << 17; columns *= 2) {
        const auto [shape, blocks] = choose(op, type, columns);
        std::printf("%s %s %d %s_%s_%s %d %d %d\n", name(op), type.name, columns, name(op), type.name, shape.name,
                    shape.threads * shape.rows, blocks, shape.rows);
      }
    }
  }
  return 0;
}

int main(int argc, char** argv) try {
  const cu::Primary context;
  if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 9) {
    std::printf("skipped: clusters need compute capability 9.0\n");
    return 77;
  }
  const std::string mode = argc > 1 ? argv[1] : "";
  const Lesson lesson;
  if (mode == "--list") return list();
  if (mode == "--verify") return lesson.verify() ? 0 : 1;
  if (mode == "--profile" && argc > 2) {
    lesson.profile(std::max(std::atoi(argv[2]), 1));
    return 0;
  }
  cu::print_device(context.device);
  const bool right = lesson.verify();
  return lesson.climb() && lesson.compare() && right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
