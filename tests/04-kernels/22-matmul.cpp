// Checks the learner's kernel multiply() (exercise of 04-kernels/22-matmul).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <vector>

namespace {

constexpr int kTile = 64, kThreads = 256;
constexpr int kPast = 4096;  // floats past the end of c, in the same allocation
constexpr float kUntouched = -0.5f;

// Three matrices on the device.
struct Matrices {
  int rows, inner, columns;
  cu::Memory a{sizeof(float) * rows * inner}, b{sizeof(float) * inner * columns};
  cu::Memory c{sizeof(float) * (std::size_t(rows) * columns + kPast)};

  void launch(CUfunction kernel) {
    void* arguments[] = {&a.address, &b.address, &c.address, &rows, &inner, &columns};
    const unsigned x = (columns + kTile - 1) / kTile, y = (rows + kTile - 1) / kTile;
    CU_CHECK(cuLaunchKernel(kernel, x, y, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  // Sets all elements of a and b.
  void fill() const {
    CU_CHECK(cuMemsetD32(a.address, 0, std::size_t(rows) * inner));
    CU_CHECK(cuMemsetD32(b.address, 0, std::size_t(inner) * columns));
  }
};

// Small integers: sums are exact in any order.
std::vector<float> some_numbers(int count, int seed) {
  std::vector<float> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>((i * 7 + i / 31 + seed) % 11 - 5);
  return numbers;
}

struct Result {
  int wrong = 0;
  int past_the_end = 0;
};

Result multiply(int rows, int inner, int columns) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const std::vector<float> a = some_numbers(rows * inner, 1), b = some_numbers(inner * columns, 4);
  std::vector<float> c(rows * columns + kPast, kUntouched);
  Matrices matrices{rows, inner, columns};
  CU_CHECK(cuMemcpyHtoD(matrices.a.address, a.data(), a.size() * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(matrices.b.address, b.data(), b.size() * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(matrices.c.address, c.data(), c.size() * sizeof(float)));
  matrices.launch(module.function("multiply"));
  CU_CHECK(cuMemcpyDtoH(c.data(), matrices.c.address, c.size() * sizeof(float)));

  Result result;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      float sum = 0;
      for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * columns + x];
      result.wrong += c[y * columns + x] != sum;
    }
  }
  for (int i = rows * columns; i < rows * columns + kPast; ++i) result.past_the_end += c[i] != kUntouched;
  return result;
}

// What the kernel does with 2 × 3 full tiles of c.
struct Observed {
  std::size_t stored;                                            // bytes, to global memory
  std::string from_global, from_shared, scattered, conflicting;  // a description of what is too much, or ""
};
constexpr int kRows = 128, kInner = 48, kColumns = 192;
Observed observed() {
  cu::Context context;
  const Traffic traffic(cu::image("exercise.ptx"));
  Matrices matrices{kRows, kInner, kColumns};
  matrices.fill();
  matrices.launch(traffic.function("multiply"));
  CU_CHECK(cuCtxSynchronize());
  constexpr std::size_t kMultiplyAdds = std::size_t(kRows) * kInner * kColumns;
  return {traffic.bytes().stored,
          // For each of 64 steps in the other direction, a block needs 64 elements of a and 64 of b.
          traffic.loads_beyond(Traffic::Space::kGlobal, 2.0 / kTile, kMultiplyAdds),
          traffic.loads_beyond(Traffic::Space::kShared, 0.5, kMultiplyAdds), traffic.scattered(),
          traffic.conflicting()};
}

// Describes the first barrier that only some threads have reached, or returns "".
std::string divergence(int rows, int inner, int columns) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  Matrices matrices{rows, inner, columns};
  matrices.fill();
  matrices.launch(counted.function("multiply"));
  CU_CHECK(cuCtxSynchronize());
  return counted.divergence(kThreads);
}

}  // namespace

TEST_CASE("one tile") { CHECK(multiply(64, 64, 64).wrong == 0); }

TEST_CASE("several tiles") { CHECK(multiply(128, 128, 128).wrong == 0); }

TEST_CASE("matrices that are not square") {
  CHECK(multiply(64, 32, 192).wrong == 0);
  CHECK(multiply(192, 96, 64).wrong == 0);
}

TEST_CASE("an inner dimension of any length") {
  for (const int inner : {1, 5, 17, 40, 333}) {
    CAPTURE(inner);
    CHECK(multiply(64, inner, 64).wrong == 0);
  }
}

TEST_CASE("rows and columns that are not multiples of a tile") {
  for (const int side : {1, 15, 33, 65, 100}) {
    CAPTURE(side);
    const Result result = multiply(side, 32, side + 4);
    CHECK(result.wrong == 0);
    CHECK(result.past_the_end == 0);
  }
}

TEST_CASE("a barrier is reached by all threads of the block, even those outside c") {
  CHECK(divergence(65, 40, 20) == "");
}

TEST_CASE("a block loads each element from global memory once, and stores each once") {
  const Observed done = observed();
  CHECK(done.from_global == "");
  CHECK(done.stored == sizeof(float) * kRows * kColumns);
}

TEST_CASE("a warp's loads and stores touch no more sectors of global memory than needed") {
  CHECK(observed().scattered == "");
}

TEST_CASE("at most 0.5 floats are loaded from shared memory for each multiply-add") {
  CHECK(observed().from_shared == "");
}

TEST_CASE("shared memory is accessed without bank conflicts") { CHECK(observed().conflicting == ""); }

TEST_CASE("on a GPU, the kernel reaches 20% of the FP32 peak") {
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  cu::Module module(cu::image("exercise.ptx"));
  const CUfunction kernel = module.function("multiply");
  constexpr int kSide = 2048;
  Matrices matrices{kSide, kSide, kSide};
  matrices.fill();
  const double seconds = cu::median_device_seconds([&] { matrices.launch(kernel); });
  const double peak = cu::arithmetic_limit(context.device), speed = 2.0 * kSide * kSide * kSide / seconds / 1e9;
  INFO("2048 x 2048 x 2048: the kernel reaches " << speed << " of " << peak << " GFLOP/s");
  CHECK(speed / peak >= 0.2);
}
