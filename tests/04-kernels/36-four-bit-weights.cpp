// Checks the learner's kernel four_bit() (exercise of 04-kernels/36-four-bit-weights).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/bfloat16.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/traffic.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kGroup = 128, kTile = 16, kMostRows = 8;
constexpr std::uint16_t kNaN = 0xffff;

unsigned hash(std::size_t i, unsigned seed) {
  unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed * 0x9e3779b9u;
  bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
  return bits >> 16;
}

struct Size {
  int m, rows, columns;
  bool zeros = false;     // of their own for each group, and not 8
  bool fractions = false;  // scales that need all bits of bfloat16, and not powers of two
};

template <class T>
cu::Memory copied(const std::vector<T>& numbers) {
  cu::Memory memory(sizeof(T) * numbers.size());
  CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), sizeof(T) * numbers.size()));
  return memory;
}

class Problem {
 public:
  explicit Problem(const Size& size) : size_(size) {
    const int groups = size.columns / kGroup;
    std::vector<std::uint32_t> words(std::size_t(size.rows) * size.columns / 8);
    std::vector<std::uint16_t> scales(std::size_t(size.rows) * groups), zeros(scales.size()), x;
    for (int row = 0; row < size.rows; ++row) {
      for (int column = 0; column < size.columns; ++column) {
        const std::size_t unit = std::size_t(row / kTile) * groups + column / kGroup;
        const int lane = row % 8 * 4 + column % 32 / 8, word = column % kGroup / 32 * 2 + row % kTile / 8;
        const int bit = column % 8 / 2 * 4 + column % 2 * 16;
        words[unit * 256 + (word / 4 * 32 + lane) * 4 + word % 4] |= q(row, column) << bit;
        const std::size_t at = unit * kTile + row % 8 * 2 + row % kTile / 8;
        scales[at] = bfloat16(scale(row, column)), zeros[at] = bfloat16(static_cast<float>(zero(row, column)));
      }
    }
    for (int i = 0; i < size.m * size.columns; ++i) x.push_back(bfloat16(static_cast<float>(number(i))));
    weights_ = copied(words), scales_ = copied(scales), zeros_ = copied(zeros), x_ = copied(x);
    y_ = cu::Memory(2 * elements());
    CU_CHECK(cuMemsetD16(y_.address, kNaN, elements()));
  }

  void launch(CUfunction kernel) {
    void* arguments[] = {&weights_.address, &scales_.address, &zeros_.address, &x_.address,
                         &y_.address,       &size_.m,         &size_.rows,     &size_.columns};
    CU_CHECK(cuLaunchKernel(kernel, size_.rows / kTile, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Returns how many elements of y differ from the exact ones by more than one rounding, or are in rows that x does not
  // have. FP32 sums of the groups may have small errors.
  int wrong() const {
    std::vector<std::uint16_t> y(elements());
    CU_CHECK(cuMemcpyDtoH(y.data(), y_.address, 2 * y.size()));
    int wrong = 0;
    for (int m = 0; m < kMostRows; ++m) {
      for (int row = 0; row < size_.rows; ++row) {
        const std::uint16_t found = y[std::size_t(m) * size_.rows + row];
        if (m >= size_.m) {
          wrong += found != kNaN;
          continue;
        }
        double exact = 0, largest = 0;
        for (int column = 0; column < size_.columns; ++column) {
          const double x = scale(row, column) * number(m * size_.columns + column);
          exact += x * (static_cast<int>(q(row, column)) - zero(row, column)), largest += std::fabs(15 * x);
        }
        const double half = exact == 0 ? 0 : std::ldexp(1.0, std::ilogb(exact) - 8);  // of the last place
        wrong += !(std::fabs(from_bfloat16(found) - exact) <= half + std::ldexp(largest, -20));
      }
    }
    return wrong;
  }

 private:
  static unsigned q(int row, int column) { return hash(std::size_t(row) * 4096 + column, 1) % 16; }
  static int number(int i) { return static_cast<int>(hash(i, 2) % 15) - 7; }
  int zero(int row, int column) const { return size_.zeros ? hash(row * 64 + column / kGroup, 3) % 16 : 8; }
  float scale(int row, int column) const {
    const unsigned bits = hash(row * 64 + column / kGroup, 4);
    return size_.fractions ? static_cast<float>(129 + bits % 64 * 2) / 4096
                           : std::ldexp(1.0f, static_cast<int>(bits % 4) - 6);
  }
  std::size_t elements() const { return std::size_t(kMostRows) * size_.rows; }

  Size size_;
  cu::Memory weights_, scales_, zeros_, x_, y_;
};

int wrong(const Size& size) {
  cu::Context context;
  const cu::Module module(cu::image("exercise.ptx"));
  Problem problem(size);
  problem.launch(module.function("four_bit"));
  return problem.wrong();
}

constexpr Size kCounted{8, 32, 384, true};
constexpr int kTiles = kCounted.rows / kTile, kGroups = kTiles * kCounted.columns / kGroup;
constexpr int kWeights = kCounted.rows * kCounted.columns;

template <class Instrumented, class Look>
auto observed(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Problem problem(kCounted);
  problem.launch(kernel.function("four_bit"));
  CU_CHECK(cuCtxSynchronize());
  return look(kernel);
}
double executed(const std::string& mnemonic, const std::string& modifier = "") {
  return observed<Counted>([&](const Counted& counted) { return counted.executed_by_warps(mnemonic, modifier); });
}

}  // namespace

TEST_CASE("one group: every result is right") {
  NEEDS_MMA();
  CHECK(wrong({8, 16, 128}) == 0);
}

TEST_CASE("every group has its own scale") {
  NEEDS_MMA();
  CHECK(wrong({8, 16, 384}) == 0);
}

TEST_CASE("every group has its own zero point") {
  NEEDS_MMA();
  CHECK(wrong({8, 16, 384, true}) == 0);
}

TEST_CASE("any number of tiles, and of rows of x") {
  NEEDS_MMA();
  for (const int m : {1, 3, 8}) {
    CAPTURE(m);
    CHECK(wrong({m, 48, 256, true}) == 0);
  }
}

TEST_CASE("no weight is rounded") {
  NEEDS_MMA();
  CHECK(wrong({8, 32, 384, true, true}) == 0);
}

TEST_CASE("no integer is converted to a floating-point number") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted) == 0);
  INFO("instructions of a warp that convert integers, for " << kWeights / 32 << " weights of each lane");
  CHECK(executed("cvt", ".rn.f32.") + executed("cvt", ".rn.f16.") + executed("cvt", ".rn.bf16.s") +
            executed("cvt", ".rn.bf16.u") ==
        0);
}

TEST_CASE("a lop3 for two weights") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted) == 0);
  CHECK(executed("lop3") <= kWeights / 2 / 32);
}

TEST_CASE("the tensor cores multiply") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted) == 0);
  INFO("an mma multiplies 256 weights; as many again are allowed, for sums of x");
  CHECK(executed("mma") >= kWeights / 256);
  CHECK(executed("mma") <= 2 * kWeights / 256);
}

TEST_CASE("every byte is loaded once") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted) == 0);
  constexpr std::size_t kScales = 32 * 4;  // 4 bytes for each lane
  INFO("weights, scales and zero points of " << kGroups << " groups, and x for each of " << kTiles << " tiles");
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().loaded; }) <=
        kWeights / 2 + 2 * kGroups * kScales + std::size_t{2} * kTiles * kCounted.m * kCounted.columns);
}

TEST_CASE("a warp's loads touch no more sectors than needed") {
  NEEDS_MMA();
  REQUIRE(wrong(kCounted) == 0);
  const std::string found = observed<Traffic>([](const Traffic& traffic) { return traffic.scattered(); });
  CHECK((found.find("load") == std::string::npos ? "" : found) == "");
}
