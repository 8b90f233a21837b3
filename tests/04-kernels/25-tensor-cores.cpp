// Checks the learner's kernel linear() (exercise of 04-kernels/25-tensor-cores).
#include "04-kernels/25-tensor-cores/shape.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/bfloat16.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int kTile = 64, kBlock = 128;
constexpr int kPast = 64 * 64;  // elements past the end of each matrix, in the same allocation
constexpr std::uint16_t kNaN = 0xffff;

// Three matrices on the device, followed by NaNs, which also fill y.
class Matrices {
 public:
  // rows × inner elements of x, columns × inner of w
  Matrices(int rows, int columns, int inner)
      : rows_(rows),
        columns_(columns),
        inner_(inner),
        x_(numbers(rows * inner, 1)),
        w_(numbers(columns * inner, 4)),
        from_x_(on_device(x_)),
        from_w_(on_device(w_)),
        y_(2 * (std::size_t(rows) * columns + kPast)) {
    CU_CHECK(cuMemsetD16(y_.address, kNaN, std::size_t(rows) * columns + kPast));
  }

  void launch(CUfunction kernel) {
    void* arguments[] = {&from_x_.address, &from_w_.address, &y_.address, &columns_, &inner_};
    CU_CHECK(cuLaunchKernel(kernel, columns_ / kTile, rows_ / kTile, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Returns how many elements of y are wrong, or have been written past its end.
  int wrong() const {
    std::vector<std::uint16_t> y(std::size_t(rows_) * columns_ + kPast);
    CU_CHECK(cuMemcpyDtoH(y.data(), y_.address, 2 * y.size()));
    int wrong = 0;
    for (int row = 0; row < rows_; ++row) {
      for (int column = 0; column < columns_; ++column) {
        float sum = 0;
        for (int k = 0; k < inner_; ++k) sum += x_[row * inner_ + k] * w_[column * inner_ + k];
        wrong += y[std::size_t(row) * columns_ + column] != bfloat16(sum);
      }
    }
    for (std::size_t i = y.size() - kPast; i < y.size(); ++i) wrong += y[i] != kNaN;
    return wrong;
  }

 private:
  // Mostly zeros, and integers whose sums of products are small enough to be exact in bfloat16.
  static std::vector<float> numbers(int count, int seed) {
    std::vector<float> numbers(count);
    for (int i = 0; i < count; ++i) {
      const unsigned hash = (static_cast<unsigned>(i + seed) * 2654435761u) >> 16;
      numbers[i] = static_cast<float>(hash % 4 == 0 ? static_cast<int>(hash / 4 % 5) - 2 : 0);
    }
    return numbers;
  }
  static cu::Memory on_device(const std::vector<float>& numbers) {
    std::vector<std::uint16_t> elements(numbers.size() + kPast, kNaN);
    for (std::size_t i = 0; i < numbers.size(); ++i) elements[i] = bfloat16(numbers[i]);
    cu::Memory memory(2 * elements.size());
    CU_CHECK(cuMemcpyHtoD(memory.address, elements.data(), 2 * elements.size()));
    return memory;
  }

  int rows_, columns_, inner_;
  std::vector<float> x_, w_;
  cu::Memory from_x_, from_w_, y_;
};

// Leaves NaNs in the shared memory of all multiprocessors, so that elements that are read too early are noticed.
void leave_nans(CUfunction kernel) {
  constexpr int kSide = 16 * kTile;
  int columns = kSide, inner = 2 * kTile;
  const cu::Memory from(std::size_t{2} * kSide * inner), to(std::size_t{2} * kSide * columns);
  CUdeviceptr x = from.address, y = to.address;
  CU_CHECK(cuMemsetD16(x, kNaN, std::size_t{1} * kSide * inner));
  void* arguments[] = {&x, &x, &y, &columns, &inner};
  CU_CHECK(cuLaunchKernel(kernel, kSide / kTile, kSide / kTile, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
}

int wrong(int rows, int columns, int inner) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  Matrices matrices(rows, columns, inner);
  matrices.launch(module.function("linear"));
  return matrices.wrong();
}

// A product of 2 × 3 tiles in three steps.
constexpr int kRows = 128, kColumns = 192, kInner = 192, kBlocks = 6;
constexpr double kMmas = double(kRows) * kColumns * kInner / (16 * 8 * 16);

template <class Instrumented, class Look>
auto observed(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Matrices matrices(kRows, kColumns, kInner);
  matrices.launch(kernel.function("linear"));
  CU_CHECK(cuCtxSynchronize());
  return look(kernel);
}
double executed(const std::string& mnemonic, const std::string& modifier = "") {
  return observed<Counted>([&](const Counted& counted) { return counted.executed_by_warps(mnemonic, modifier); });
}

// The learner's image with counters of the copies that all threads have begun, now and when thread 0 first executes an
// mma instruction. The last warp is slow: it sleeps before it copies, and before it loads fragments. So the others
// notice if they do not wait for its copies, and it notices if they overwrite what it still has to load. Also counts
// loads of fragments between a wait for copies and the next barrier, when only the thread's own copies are complete.
// For one block.
class Watched {
 public:
  explicit Watched(const std::string& image) {
    std::ifstream file(image);
    std::string text, line;
    std::size_t declarations = 0;
    for (bool entry = false; std::getline(file, line);) {
      const auto has = [&](const char* name) { return line.find(name) != std::string::npos; };
      const bool copies = has("cp.async.cg.") || has("cp.async.ca.");
      if (copies || has("ldmatrix.")) {
        text +=
            "{ .reg .b32 %thread; .reg .pred %late; mov.u32 %thread, %tid.x; setp.ge.u32 %late, %thread, 96;\n"
            "@%late nanosleep.u32 2000; bar.warp.sync 0xffffffff; }\n";
      }
      if (copies) text += "red.global.add.u32 [copies], 1;\n";
      if (has("cp.async.wait_")) text += "mov.b32 %unordered, 1;\n";
      if (has("bar.sync") || has("barrier.sync")) text += "mov.b32 %unordered, 0;\n";
      if (has("ldmatrix.")) text += "red.global.add.u32 [copies+8], %unordered;\n";
      if (has("mma.sync.")) {
        text +=
            "{ .reg .pred %first; .reg .b32 %thread, %begun; mov.u32 %thread, %tid.x; setp.eq.u32 %first, %thread, 0;\n"
            "@%first ld.volatile.global.u32 %begun, [copies];\n"
            "@%first atom.global.cas.b32 %begun, [copies+4], 0, %begun; }\n";
      }
      text += line + '\n';
      if (line.rfind(".address_size", 0) == 0) declarations = text.size();
      entry |= has(".entry");
      if (entry && line == "{") text += ".reg .b32 %unordered;\nmov.b32 %unordered, 0;\n", entry = false;
    }
    text.insert(declarations, ".visible .global .align 8 .b32 copies[3];\n");
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }

  CUfunction function(const char* name) const { return module_.function(name); }

  unsigned copies_before_mma() const { return count(1); }
  unsigned unordered_loads() const { return count(2); }

 private:
  unsigned count(int which) const {
    CUdeviceptr copies;
    unsigned counts[3];
    CU_CHECK(cuModuleGetGlobal(&copies, nullptr, module_.handle, "copies"));
    CU_CHECK(cuMemcpyDtoH(counts, copies, sizeof counts));
    return counts[which];
  }

  cu::Module module_;
};

}  // namespace

TEST_CASE("one tile in one step: every element is right") {
  NEEDS_MMA();
  CHECK(wrong(64, 64, 64) == 0);
}

TEST_CASE("several steps: no tile is read too early, or overwritten too early") {
  NEEDS_MMA();
  for (const int inner : {128, 192, 512}) {
    CAPTURE(inner);
    CHECK(wrong(64, 64, inner) == 0);
  }
  INFO("One warp is slower than the others.");
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  const cu::Module module(cu::image("exercise.ptx"));
  for (const int inner : {64, 192}) {
    CAPTURE(inner);
    leave_nans(module.function("linear"));
    Matrices matrices(64, 64, inner);
    matrices.launch(watched.function("linear"));
    CHECK(matrices.wrong() == 0);
    INFO("loads of fragments between a wait for copies and the next barrier");
    CHECK(watched.unordered_loads() == 0);
  }
}

TEST_CASE("several tiles: every block computes its own") {
  NEEDS_MMA();
  CHECK(wrong(192, 64, 64) == 0);
  CHECK(wrong(64, 192, 64) == 0);
  CHECK(wrong(128, 192, 128) == 0);
}

TEST_CASE("the inner dimension is any multiple of 8") {
  NEEDS_MMA();
  for (const int inner : {8, 40, 72, 136, 200}) {
    CAPTURE(inner);
    CHECK(wrong(64, 128, inner) == 0);
  }
}

TEST_CASE("the tensor cores multiply: one mma for each 2048 products") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  CHECK(executed("mma") == kMmas);
}

TEST_CASE("a warp executes at most one load from shared memory for every two mma instructions") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  const double loads = executed("ldmatrix") + executed("ld", ".shared");
  INFO(loads << " loads for " << kMmas << " mma instructions");
  CHECK(loads <= kMmas / 2);
}

TEST_CASE("a warp's accesses to shared memory take no more passes than their bytes need") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.conflicting(); }) == "");
}

TEST_CASE("a block copies each element of its rows of x and w once") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().loaded; }) ==
        std::size_t{2} * kBlocks * 2 * kTile * kInner);
}

TEST_CASE("the copies do not pass through registers") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  INFO("loads from global memory to registers, and stores from registers to shared memory");
  CHECK(executed("ld", ".global") + executed("st", ".shared") == 0);
}

TEST_CASE("when the first step is multiplied, the copies of the second step have begun") {
  NEEDS_MMA();
  REQUIRE(wrong(64, 64, 192) == 0);
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Matrices matrices(64, 64, 192);
  matrices.launch(watched.function("linear"));
  CU_CHECK(cuCtxSynchronize());
  constexpr unsigned kVectorsOfAStep = 2 * kTile * 64 / 8;
  INFO("a step has " << kVectorsOfAStep << " vectors of 16 bytes; before the first mma, the threads have begun to copy "
                     << watched.copies_before_mma());
  CHECK(watched.copies_before_mma() > kVectorsOfAStep);
}

TEST_CASE("on a GPU, the kernel reaches 20% of the speed of mma instructions alone") {
  NEEDS_MMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  constexpr int kSide = 4096;
  const std::size_t bytes = std::size_t{2} * kSide * kSide;
  cu::Memory x(bytes), w(bytes), y(bytes);
  CU_CHECK(cuMemsetD32(x.address, 0, bytes / 4));
  CU_CHECK(cuMemsetD32(w.address, 0, bytes / 4));
  const cu::Module exercise(cu::image("exercise.ptx")), lesson(cu::image("kernels.ptx"));
  const CUfunction linear = exercise.function("linear"), only_mma = lesson.function("only_mma");
  CU_CHECK(cuFuncSetAttribute(only_mma, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes<OnlyMma>));
  int side = kSide;
  void* arguments[] = {&x.address, &w.address, &y.address, &side, &side};
  const double seconds = cu::median_device_seconds([&] {
    CU_CHECK(cuLaunchKernel(linear, kSide / kTile, kSide / kTile, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  });
  const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
  Product product{pointer(x), pointer(w), pointer(y), kSide, kSide, kSide, 1};
  void* of_lesson[] = {&product};
  constexpr unsigned kTiles = kSide / OnlyMma::kRows * (kSide / OnlyMma::kColumns);
  const double least = cu::median_device_seconds([&] {
    CU_CHECK(cuLaunchKernel(only_mma, kTiles, 1, 1, kThreads<OnlyMma>, 1, 1, kSharedBytes<OnlyMma>, nullptr, of_lesson,
                            nullptr));
  });
  INFO("4096 x 4096 x 4096: " << seconds * 1e3 << " ms, and " << least * 1e3 << " ms for the mma instructions alone");
  CHECK(least / seconds >= 0.2);
}
