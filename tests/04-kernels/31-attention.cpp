// Checks the learner's kernel attend() (exercise of 04-kernels/31-attention).
#include "04-kernels/31-attention/shape.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/attention.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/late.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <algorithm>
#include <string>

namespace {

constexpr int kBlock = 128;

struct Size {
  int n, window, heads = 1, group = 1;
  float factor = 1;  // of the numbers in q
};

class Problem {
 public:
  explicit Problem(const Size& size)
      : size_(size),
        q_(size.heads * size.n, 1, size.factor),
        k_(size.heads / size.group * size.n, 77, 1),
        v_(size.heads / size.group * size.n, 345, 1),
        output_(std::size_t(size.heads) * size.n) {}

  void launch(CUfunction kernel) {
    CUdeviceptr q = q_.address(), k = k_.address(), v = v_.address();
    void* arguments[] = {&q,           &k,     &v, &output_.o.address, &output_.lse.address, &size_.n, &size_.window,
                         &size_.group, &scale_};
    CU_CHECK(cuLaunchKernel(kernel, (size_.n + kRows - 1) / kRows, size_.heads, 1, kBlock, 1, 1, 0, nullptr, arguments,
                            nullptr));
  }

  Wrong wrong() const {
    return output_.wrong([&](int row) { return exact(row); });
  }

 private:
  Row exact(int row) const {
    const int at = row % size_.n, first = std::max(0, at - size_.window + 1);
    return exact_row(q_.row(row), k_, v_, row / size_.n / size_.group * size_.n + first, at + 1 - first);
  }

  Size size_;
  Matrix q_, k_, v_;
  Output output_;
  float scale_ = kScale;
};

template <class Image = cu::Module>
Wrong wrong(const Size& size) {
  cu::Context context;
  const Image module(cu::image("exercise.ptx"));
  Problem problem(size);
  problem.launch(module.function("attend"));
  return problem.wrong();
}

// Four blocks: the first one uses one tile of keys, and each of the others uses two.
constexpr Size kCounted{256, 64};
constexpr int kTiles = 7, kMmas = 2 * kRows * kRows * kHead / 2048;

template <class Instrumented, class Look>
auto observed(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Problem problem(kCounted);
  problem.launch(kernel.function("attend"));
  CU_CHECK(cuCtxSynchronize());
  return look(kernel);
}
double executed(const std::string& mnemonic, const std::string& modifier = "") {
  return observed<Counted>([&](const Counted& counted) { return counted.executed_by_warps(mnemonic, modifier); });
}

}  // namespace

TEST_CASE("one tile of keys: every element of o is right") {
  NEEDS_MMA();
  CHECK(wrong({64, 64}).o == 0);
}

TEST_CASE("several tiles: the sums of earlier tiles are adjusted to a larger score") {
  NEEDS_MMA();
  CHECK(wrong({192, 192}).o == 0);
}

TEST_CASE("tiles are overwritten only after all warps have read them") {
  NEEDS_MMA();
  CHECK(wrong<Late>({192, 192}).o == 0);
}

TEST_CASE("a window of any size: the first tile of a block may have no key for some rows") {
  NEEDS_MMA();
  for (const int window : {1, 64, 65, 100}) {
    CAPTURE(window);
    CHECK(wrong({192, window}).o == 0);
  }
}

TEST_CASE("any number of rows") {
  NEEDS_MMA();
  for (const int n : {1, 63, 65}) {
    CAPTURE(n);
    CHECK(wrong({n, 50}).o == 0);
  }
}

TEST_CASE("large scores do not overflow") {
  NEEDS_MMA();
  CHECK(wrong({128, 128, 1, 1, 32}).o == 0);
}

TEST_CASE("several heads of q use the same head of k and v") {
  NEEDS_MMA();
  CHECK(wrong({64, 64, 4, 2}).o == 0);
}

TEST_CASE("lse is the natural logarithm of the sum of the exponentials") {
  NEEDS_MMA();
  REQUIRE(wrong({65, 50}).o == 0);
  CHECK(wrong({65, 50}).lse == 0);
  CHECK(wrong({65, 50, 1, 1, 32}).lse == 0);
}

TEST_CASE("only tiles with a key in the window are multiplied and copied") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted).o == 0);
  INFO("the four blocks use " << kTiles << " tiles of k");
  CHECK(executed("mma") <= kTiles * kMmas);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().loaded; }) <=
        2 * kHead * std::size_t{kCounted.n + 2 * kTiles * kRows});
}

TEST_CASE("each score takes one exponential") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted).o == 0);
  constexpr double kScores = kTiles * kRows * kRows / 32.0;  // instructions of a warp
  INFO(kScores << " of a warp's instructions compute all exponentials; a quarter more is allowed for factors");
  CHECK(executed("ex2") <= 1.25 * kScores);
}

TEST_CASE("the weights stay in registers, and only o and lse are stored") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted).o == 0);
  CHECK(executed("st", ".shared") == 0);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().stored; }) ==
        std::size_t{kCounted.n} * (2 * kHead + 4));
}

TEST_CASE("on a GPU, the kernel reaches 40% of the speed of the lesson's last kernel") {
  NEEDS_MMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(wrong(kCounted).o == 0);
  constexpr int kN = 4096, kHeads = 32;
  const std::size_t bytes = std::size_t{2} * kHeads * kN * kHead;
  cu::Memory from(bytes), o(bytes), lse(4 * kHeads * kN);
  CU_CHECK(cuMemsetD32(from.address, 0, bytes / 4));
  const cu::Module exercise(cu::image("exercise.ptx")), lesson(cu::image("kernels.ptx"));
  const CUfunction attend = exercise.function("attend"), lazy = lesson.function("lazy_64");
  int n = kN, group = 1;
  float scale = 0.125f;
  CUdeviceptr f = from.address;
  void* arguments[] = {&f, &f, &f, &o.address, &lse.address, &n, &n, &group, &scale};
  const double seconds = cu::median_device_seconds(
      [&] { CU_CHECK(cuLaunchKernel(attend, kN / kRows, kHeads, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr)); });
  using S = Lazy<64>;
  CU_CHECK(cuFuncSetAttribute(lazy, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes<S>));
  const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
  Attention attention{
      pointer(from), pointer(from), pointer(from), pointer(o), static_cast<float*>(pointer(lse)), n, n, 1, scale, true};
  void* of_lesson[] = {&attention};
  const double least = cu::median_device_seconds([&] {
    CU_CHECK(cuLaunchKernel(lazy, kN / S::kRows, kHeads, 1, kThreads<S>, 1, 1, kSharedBytes<S>, nullptr, of_lesson,
                            nullptr));
  });
  INFO("4096 rows in each of 32 heads: " << seconds * 1e3 << " ms, and " << least * 1e3
                                         << " ms for the lesson's kernel");
  CHECK(least / seconds >= 0.4);
}
