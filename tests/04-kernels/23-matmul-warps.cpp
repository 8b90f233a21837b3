// Checks the learner's kernel multiply() (exercise of 04-kernels/23-matmul-warps).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr int kTile = 128, kDepth = 8, kThreads = 256;
constexpr int kPast = 4096;  // floats past the end of each matrix, in the same allocation
constexpr float kUntouched = -0.5f;

// Three matrices on the device.
struct Matrices {
  int rows, columns, inner;
  cu::Memory a{sizeof(float) * (std::size_t(rows) * inner + kPast)};
  cu::Memory b{sizeof(float) * (std::size_t(inner) * columns + kPast)};
  cu::Memory c{sizeof(float) * (std::size_t(rows) * columns + kPast)};

  void launch(CUfunction kernel) {
    void* arguments[] = {&a.address, &b.address, &c.address, &rows, &columns, &inner};
    CU_CHECK(cuLaunchKernel(kernel, columns / kTile, rows / kTile, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  void clear() const {
    CU_CHECK(cuMemsetD32(a.address, 0, std::size_t(rows) * inner));
    CU_CHECK(cuMemsetD32(b.address, 0, std::size_t(inner) * columns));
  }
};

// Small integers: sums are exact in any order. NaN past the end, so that an element from there spoils the result.
std::vector<float> some_numbers(int count, int seed) {
  std::vector<float> numbers(count + kPast, std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>((i * 7 + i / 31 + seed) % 11 - 5);
  return numbers;
}

// The learner's PTX. In each block, the last warp sleeps before it loads from shared memory, so that it notices if
// other warps overwrite what it still has to read.
std::string with_a_slow_warp() {
  std::ifstream file(cu::image("exercise.ptx"));
  std::string text;
  for (std::string line; std::getline(file, line); text += line + '\n') {
    if (line.find("ld.shared.") == std::string::npos) continue;
    text +=
        "{ .reg .b32 %thread; .reg .pred %late; mov.u32 %thread, %tid.x; setp.ge.u32 %late, %thread, 224;\n"
        "@%late nanosleep.u32 1000; }\n";
  }
  return text;
}

enum class Warps { kAsTheyAre, kOneSlow };

// Returns how many elements of c are wrong, or have been written past its end.
int wrong(int rows, int columns, int inner, Warps warps = Warps::kAsTheyAre) {
  cu::Context context;
  cu::Module module;
  if (warps == Warps::kOneSlow) {
    CU_CHECK(cuModuleLoadData(&module.handle, with_a_slow_warp().c_str()));
  } else {
    module = cu::Module(cu::image("exercise.ptx"));
  }
  const std::vector<float> a = some_numbers(rows * inner, 1), b = some_numbers(inner * columns, 4);
  std::vector<float> c(rows * columns + kPast, kUntouched);
  Matrices matrices{rows, columns, inner};
  CU_CHECK(cuMemcpyHtoD(matrices.a.address, a.data(), a.size() * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(matrices.b.address, b.data(), b.size() * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(matrices.c.address, c.data(), c.size() * sizeof(float)));
  matrices.launch(module.function("multiply"));
  CU_CHECK(cuMemcpyDtoH(c.data(), matrices.c.address, c.size() * sizeof(float)));

  int wrong = 0;
  std::vector<float> row(columns);
  for (int y = 0; y < rows; ++y) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (int k = 0; k < inner; ++k) {
      for (int x = 0; x < columns; ++x) row[x] += a[k * rows + y] * b[k * columns + x];
    }
    for (int x = 0; x < columns; ++x) wrong += c[y * columns + x] != row[x];
  }
  for (int i = rows * columns; i < rows * columns + kPast; ++i) wrong += c[i] != kUntouched;
  return wrong;
}

// What the kernel does with 2 × 1 tiles of c.
constexpr int kRows = 256, kColumns = 128, kInner = 32, kBlocks = 2, kWarps = kBlocks * kThreads / 32;
constexpr std::size_t kMultiplyAdds = std::size_t(kRows) * kColumns * kInner;
template <class Instrumented, class Look>
auto observed(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Matrices matrices{kRows, kColumns, kInner};
  matrices.clear();
  matrices.launch(kernel.function("multiply"));
  CU_CHECK(cuCtxSynchronize());
  return look(kernel);
}
double executed(const std::string& mnemonic, const std::string& modifier = "") {
  return observed<Counted>([&](const Counted& counted) { return counted.executed_by_warps(mnemonic, modifier); });
}
constexpr double kBytes = 32 * 16;  // that a warp moves with a 128-bit instruction

}  // namespace

TEST_CASE("one step of one tile") { CHECK(wrong(128, 128, 8) == 0); }

TEST_CASE("several steps: no warp overwrites what another still reads, and nothing is read past the end") {
  for (const int inner : {16, 24, 40, 200}) {
    CAPTURE(inner);
    CHECK(wrong(128, 128, inner) == 0);
  }
  INFO("One warp is slower than the others.");
  CHECK(wrong(128, 128, 40, Warps::kOneSlow) == 0);
}

TEST_CASE("several tiles, in matrices that are not square") {
  CHECK(wrong(256, 128, 24) == 0);
  CHECK(wrong(128, 384, 24) == 0);
}

TEST_CASE("a block loads each element from global memory once, and stores each once") {
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  const auto bytes = observed<Traffic>([](const Traffic& traffic) { return traffic.bytes(); });
  CHECK(bytes.loaded == sizeof(float) * kBlocks * 2 * kTile * kInner);
  CHECK(bytes.stored == sizeof(float) * kRows * kColumns);
}

TEST_CASE("all accesses to global memory are 128 bits wide, and touch no more sectors than needed") {
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  INFO("warps execute one load for each 512 bytes, and one store");
  CHECK(executed("ld", ".global") + executed("cp", ".async") <= 4.0 * kBlocks * 2 * kTile * kInner / kBytes);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.scattered(); }) == "");
}

TEST_CASE("at most 0.25 floats are loaded from shared memory for each multiply-add, four at a time") {
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  const auto beyond = [](const Traffic& traffic) {
    return traffic.loads_beyond(Traffic::Space::kShared, 0.25, kMultiplyAdds);
  };
  CHECK(observed<Traffic>(beyond) == "");
  INFO("a warp executes one load for every 16 multiply-adds");
  CHECK(executed("ld", ".shared") <= kMultiplyAdds / 32.0 / 16);
}

TEST_CASE("shared memory is accessed without bank conflicts") {
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.conflicting(); }) == "");
}

TEST_CASE("a block reaches one barrier per step") {
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  constexpr int kSteps = kInner / kDepth;
  const double barriers = (executed("bar", ".sync") + executed("barrier", ".sync")) / kWarps;
  INFO(kSteps << " steps, and one more barrier before or after them");
  CHECK(barriers <= kSteps + 1);
}

TEST_CASE("on a GPU, the kernel reaches 45% of the FP32 peak") {
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  cu::Module module(cu::image("exercise.ptx"));
  const CUfunction kernel = module.function("multiply");
  constexpr int kSide = 4096;
  Matrices matrices{kSide, kSide, kSide};
  matrices.clear();
  const double seconds = cu::median_device_seconds([&] { matrices.launch(kernel); });
  const double peak = cu::arithmetic_limit(context.device), speed = 2.0 * kSide * kSide * kSide / seconds / 1e9;
  INFO("4096 x 4096 x 4096: the kernel reaches " << speed << " of " << peak << " GFLOP/s");
  CHECK(speed / peak >= 0.45);
}
