// Checks the learner's kernel swiglu() (exercise of 04-kernels/29-epilogues).
#include "04-kernels/29-epilogues/shape.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/bfloat16.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int kTile = 64;
constexpr int kPast = 64 * 64;  // elements past the end of c, in the same allocation
constexpr std::uint16_t kNaN = 0xffff;

void* pointer(const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); }

// The factors of a product on the device, and c, which is full of NaNs.
class Problem {
 public:
  // `scale`: of the elements of b.
  Problem(int rows, int columns, int inner, float scale)
      : rows_(rows),
        columns_(columns),
        inner_(inner),
        a_(numbers(rows * inner, 1, 1)),
        b_(numbers(inner * columns, 4, scale)),
        on_device_a_(copied(a_)),
        on_device_b_(copied(b_)),
        c_(2 * (results() + kPast)) {
    CU_CHECK(cuMemsetD16(c_.address, kNaN, results() + kPast));
  }

  void launch(CUfunction kernel) {
    Product product{pointer(on_device_a_), pointer(on_device_b_), pointer(c_), rows_, columns_, inner_, 1};
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes<Few>));
    void* arguments[] = {&product};
    CU_CHECK(cuLaunchKernel(kernel, rows_ / kTile * (columns_ / kTile), 1, 1, kThreads<Few>, 1, 1, kSharedBytes<Few>,
                            nullptr, arguments, nullptr));
  }

  // Returns how many elements of c differ from the exact ones by more than one rounding, or are past its end. The
  // activation may have a relative error of 2^-16.
  int wrong() const {
    std::vector<std::uint16_t> c(results() + kPast);
    CU_CHECK(cuMemcpyDtoH(c.data(), c_.address, 2 * c.size()));
    int wrong = 0;
    for (int row = 0; row < rows_; ++row) {
      for (int feature = 0; feature < columns_ / 2; ++feature) {
        const int column = feature / 8 * 16 + feature % 8;
        const double gate = sum(row, column), exact = gate / (1 + std::exp(-gate)) * sum(row, column + 8);
        const double found = from_bfloat16(c[std::size_t(row) * columns_ / 2 + feature]);
        const double half = exact == 0 ? 0 : std::ldexp(1.0, std::ilogb(exact) - 8);  // of the last place
        const double allowed = half + std::ldexp(std::fabs(exact), -16) + 1e-30;
        wrong += !(std::fabs(found - exact) <= allowed);
      }
    }
    for (std::size_t i = results(); i < c.size(); ++i) wrong += c[i] != kNaN;
    return wrong;
  }

 private:
  std::size_t results() const { return std::size_t(rows_) * columns_ / 2; }
  double sum(int row, int column) const {
    double sum = 0;
    for (int k = 0; k < inner_; ++k) sum += double(a_[row * inner_ + k]) * b_[k * columns_ + column];
    return sum;
  }
  // Integers times a power of two, half of them zeros: sums are exact.
  static std::vector<float> numbers(int count, int seed, float scale) {
    std::vector<float> numbers(count);
    for (int i = 0; i < count; ++i) {
      const unsigned hash = (static_cast<unsigned>(i + seed) * 2654435761u) >> 16;
      numbers[i] = scale * static_cast<float>(hash % 2 == 0 ? static_cast<int>(hash / 2 % 15) - 7 : 0);
    }
    return numbers;
  }
  static cu::Memory copied(const std::vector<float>& numbers) {
    std::vector<std::uint16_t> elements;
    for (const float number : numbers) elements.push_back(bfloat16(number));
    cu::Memory memory(2 * elements.size());
    CU_CHECK(cuMemcpyHtoD(memory.address, elements.data(), 2 * elements.size()));
    return memory;
  }

  int rows_, columns_, inner_;
  std::vector<float> a_, b_;
  cu::Memory on_device_a_, on_device_b_, c_;
};

int wrong(int rows, int columns, int inner, float scale = 0x1p-7f) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  Problem problem(rows, columns, inner, scale);
  problem.launch(module.function("swiglu"));
  return problem.wrong();
}

constexpr int kRows = 64, kColumns = 128, kInner = 64, kBlocks = 2;
template <class Look>
auto observed(Look look) {
  cu::Context context;
  const Traffic traffic(cu::image("exercise.ptx"));
  Problem problem(kRows, kColumns, kInner, 1);
  problem.launch(traffic.function("swiglu"));
  CU_CHECK(cuCtxSynchronize());
  return look(traffic);
}

}  // namespace

TEST_CASE("one tile: every result is rounded once") {
  NEEDS_MMA();
  CHECK(wrong(64, 64, 256) == 0);
}

TEST_CASE("several tiles: every element is in its place") {
  NEEDS_MMA();
  CHECK(wrong(128, 64, 128) == 0);
  CHECK(wrong(64, 192, 64) == 0);
}

TEST_CASE("large gates: the result is neither NaN nor infinite") {
  NEEDS_MMA();
  CHECK(wrong(64, 64, 64, 1) == 0);
}

TEST_CASE("nothing is stored but the results, each once") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  const auto bytes = observed([](const Traffic& traffic) { return traffic.bytes(); });
  CHECK(bytes.stored == std::size_t{2} * kRows * kColumns / 2);
  INFO("a block loads its rows of a and its columns of b once");
  CHECK(bytes.loaded == std::size_t{2} * kBlocks * 2 * kTile * kInner);
}

TEST_CASE("a warp's stores touch no more sectors than needed") {
  NEEDS_MMA();
  REQUIRE(wrong(kRows, kColumns, kInner) == 0);
  CHECK(observed([](const Traffic& traffic) { return traffic.scattered(); }) == "");
}

TEST_CASE("on a GPU, the kernel takes at most 1.1 times as long as the product alone") {
  NEEDS_MMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  const cu::Module exercise(cu::image("exercise.ptx")), lesson(cu::image("kernels.ptx"));
  constexpr int kSide = 4096;
  const std::size_t bytes = std::size_t{2} * kSide * kSide;
  const cu::Memory a(bytes), b(bytes), c(bytes);
  CU_CHECK(cuMemsetD32(a.address, 0, bytes / 4));
  CU_CHECK(cuMemsetD32(b.address, 0, bytes / 4));
  Linear linear{};
  linear.a = pointer(a), linear.b = pointer(b), linear.c = pointer(c);
  linear.rows = linear.columns = linear.inner = kSide, linear.band = 1;
  const auto seconds = [&](CUfunction kernel, void* argument) {
    CU_CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes<Few>));
    void* arguments[] = {argument};
    return cu::median_device_seconds([&] {
      CU_CHECK(cuLaunchKernel(kernel, kSide / kTile * (kSide / kTile), 1, 1, kThreads<Few>, 1, 1, kSharedBytes<Few>,
                              nullptr, arguments, nullptr));
    });
  };
  Product product = linear;
  const double fused = seconds(exercise.function("swiglu"), &product);
  const double alone = seconds(lesson.function("small"), &linear);
  INFO("4096 x 4096 x 4096: " << fused * 1e3 << " ms, and " << alone * 1e3 << " ms for the product alone");
  CHECK(fused / alone <= 1.1);
}
