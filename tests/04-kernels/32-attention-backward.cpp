// Checks the learner's kernel backward() (exercise of 04-kernels/32-attention-backward).
#include "04-kernels/32-attention-backward/shape.hpp"
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
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr int kBlock = 128;

struct Size {
  int n, heads = 1, group = 1;  // heads of q
  float factor = 1;             // of the numbers in q
};

// The problem, and its gradients in double precision.
class Problem {
 public:
  explicit Problem(const Size& size)
      : size_(size),
        q_(size.heads * size.n, 1, size.factor),
        k_(rows_of_k(), 77, 1),
        v_(rows_of_k(), 345, 1),
        of_o_(size.heads * size.n, 901, 1),
        right_k_(std::size_t(rows_of_k()) * kHead),
        right_v_(right_k_) {
    std::vector<float> lse(rows_of_q()), delta(lse);
    for (int row = 0; row < rows_of_q(); ++row) add(row, lse[row], delta[row]);
    lse.resize(lse.size() + kRows, NAN), delta.resize(lse.size(), NAN);
    lse_ = on_device(lse), delta_ = on_device(delta);
    CU_CHECK(cuMemsetD16(of_k_.address, kNaN, elements()));
    CU_CHECK(cuMemsetD16(of_v_.address, kNaN, elements()));
  }

  void launch(CUfunction kernel) {
    CUdeviceptr q = q_.address(), k = k_.address(), v = v_.address(), of_o = of_o_.address();
    void* arguments[] = {
        &q,       &k,           &v,     &of_o, &lse_.address, &delta_.address, &of_k_.address, &of_v_.address,
        &size_.n, &size_.group, &scale_};
    CU_CHECK(cuLaunchKernel(kernel, (size_.n + kRows - 1) / kRows, size_.heads / size_.group, 1, kBlock, 1, 1, 0,
                            nullptr, arguments, nullptr));
  }

  struct WrongGradients {
    int k, v;  // how many elements are wrong, or have been written past the end
  };
  WrongGradients wrong() const { return {wrong(of_k_, right_k_), wrong(of_v_, right_v_)}; }

 private:
  struct Right {
    double value = 0, magnitude = 0;
    void add(double product) { value += product, magnitude += std::abs(product); }
  };

  // Adds what a row of q contributes to the gradients. Returns its lse and delta.
  void add(int row, float& lse, float& delta) {
    const int at = row % size_.n, other = row / size_.n / size_.group * size_.n;
    std::vector<double> weights, products;
    for (int key = 0; key <= at; ++key) {
      double score = 0, product = 0;
      for (int c = 0; c < kHead; ++c) {
        score += double{q_.row(row)[c]} * k_.row(other + key)[c];
        product += double{of_o_.row(row)[c]} * v_.row(other + key)[c];
      }
      weights.push_back(score * scale_), products.push_back(product);
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0, of_delta = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (int key = 0; key <= at; ++key) of_delta += weights[key] / sum * products[key];
    for (int key = 0; key <= at; ++key) {
      const double weight = weights[key] / sum, gradient = weight * (products[key] - of_delta) * scale_;
      for (int c = 0; c < kHead; ++c) {
        right_k_[(other + key) * kHead + c].add(gradient * q_.row(row)[c]);
        right_v_[(other + key) * kHead + c].add(weight * of_o_.row(row)[c]);
      }
    }
    lse = static_cast<float>(most + std::log(sum)), delta = static_cast<float>(of_delta);
  }

  // Weights and gradients of scores are rounded to bfloat16, and so are the sums, each by at most 2^-9 of its value.
  int wrong(const cu::Memory& memory, const std::vector<Right>& right) const {
    std::vector<std::uint16_t> found(elements());
    CU_CHECK(cuMemcpyDtoH(found.data(), memory.address, 2 * found.size()));
    int wrong = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      wrong += !(std::abs(from_bfloat16(found[i]) - right[i].value) <= 0.01 * right[i].magnitude + 1e-5);
    }
    for (std::size_t i = right.size(); i < found.size(); ++i) wrong += found[i] != kNaN;
    return wrong;
  }

  static cu::Memory on_device(const std::vector<float>& numbers) {
    cu::Memory memory(4 * numbers.size());
    CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), 4 * numbers.size()));
    return memory;
  }
  int rows_of_q() const { return size_.heads * size_.n; }
  int rows_of_k() const { return size_.heads / size_.group * size_.n; }
  std::size_t elements() const { return std::size_t(rows_of_k()) * kHead + kPast; }

  Size size_;
  Matrix q_, k_, v_, of_o_;
  std::vector<Right> right_k_, right_v_;
  cu::Memory lse_, delta_, of_k_{2 * elements()}, of_v_{2 * elements()};
  float scale_ = kScale;
};

template <class Image = cu::Module>
Problem::WrongGradients wrong(const Size& size) {
  cu::Context context;
  const Image module(cu::image("exercise.ptx"));
  Problem problem(size);
  problem.launch(module.function("backward"));
  return problem.wrong();
}

// Three blocks, which use three, two and one tile of q.
constexpr Size kCounted{192};
constexpr int kTiles = 6, kMmas = 4 * kRows * kRows * kHead / 2048;

template <class Instrumented, class Look>
auto observed(Look look) {
  cu::Context context;
  const Instrumented kernel(cu::image("exercise.ptx"));
  Problem problem(kCounted);
  problem.launch(kernel.function("backward"));
  CU_CHECK(cuCtxSynchronize());
  return look(kernel);
}
double executed(const std::string& mnemonic, const std::string& modifier = "") {
  return observed<Counted>([&](const Counted& counted) { return counted.executed_by_warps(mnemonic, modifier); });
}
template <class Image = cu::Module>
bool is_right(const Size& size) {
  const Problem::WrongGradients found = wrong<Image>(size);
  return found.k + found.v == 0;
}

}  // namespace

TEST_CASE("one tile: the gradient of v is right") {
  NEEDS_MMA();
  CHECK(wrong({64}).v == 0);
}

TEST_CASE("one tile: the gradient of k is right") {
  NEEDS_MMA();
  CHECK(wrong({64}).k == 0);
}

TEST_CASE("several tiles: all rows that use a key contribute to its gradients") {
  NEEDS_MMA();
  CHECK(is_right({192}));
}

TEST_CASE("tiles are overwritten only after all warps have read them") {
  NEEDS_MMA();
  CHECK(is_right<Late>({192}));
}

TEST_CASE("any number of rows") {
  NEEDS_MMA();
  for (const int n : {1, 63, 65}) {
    CAPTURE(n);
    CHECK(is_right({n}));
  }
}

TEST_CASE("all heads of q that use a head of k and v contribute to its gradients") {
  NEEDS_MMA();
  CHECK(is_right({65, 4, 2}));
}

TEST_CASE("large scores do not overflow") {
  NEEDS_MMA();
  CHECK(is_right({128, 1, 1, 32}));
}

TEST_CASE("only tiles with a row that uses the block's keys are multiplied and copied") {
  NEEDS_MMA();
  REQUIRE(is_right(kCounted));
  INFO("the three blocks use " << kTiles << " tiles of q");
  CHECK(executed("mma") <= kTiles * kMmas);
  constexpr std::size_t kMatrices = 2 * kHead * std::size_t{2 * kCounted.n + 2 * kTiles * kRows};
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().loaded; }) <=
        kMatrices + std::size_t{2} * 4 * kTiles * kRows * kBlock);
}

TEST_CASE("each weight takes one exponential") {
  NEEDS_MMA();
  REQUIRE(is_right(kCounted));
  CHECK(executed("ex2") <= kTiles * kRows * kRows / 32.0);
}

TEST_CASE("weights and gradients of scores stay in registers, and each sum is stored once, without atomics") {
  NEEDS_MMA();
  REQUIRE(is_right(kCounted));
  CHECK(executed("st", ".shared") == 0);
  CHECK(observed<Traffic>([](const Traffic& traffic) { return traffic.bytes().stored; }) ==
        std::size_t{2} * 2 * kHead * kCounted.n);
  for (const std::size_t changed : observed<Counted>([](const Counted& counted) { return counted.changed(); })) {
    CHECK(changed == 0);
  }
}

TEST_CASE("on a GPU, the kernel reaches 40% of the speed of the lesson's kernel for k and v") {
  NEEDS_MMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(is_right(kCounted));
  constexpr int kN = 4096, kHeads = 32;
  const std::size_t bytes = std::size_t{2} * kHeads * kN * kHead;
  cu::Memory from(bytes), to(bytes), numbers(4 * kHeads * kN);
  CU_CHECK(cuMemsetD32(from.address, 0, bytes / 4));
  CU_CHECK(cuMemsetD32(numbers.address, 0, kHeads * kN));
  const cu::Module exercise(cu::image("exercise.ptx")), lesson(cu::image("kernels.ptx"));
  const CUfunction backward = exercise.function("backward"), pairs = lesson.function("pairs_fixed_64");
  int n = kN, group = 1;
  float scale = 0.125f;
  CUdeviceptr f = from.address, t = to.address, l = numbers.address;
  void* arguments[] = {&f, &f, &f, &f, &l, &l, &t, &t, &n, &group, &scale};
  const double seconds = cu::median_device_seconds(
      [&] { CU_CHECK(cuLaunchKernel(backward, kN / kRows, kHeads, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr)); });
  using S = PairsFixed<64>;
  CU_CHECK(cuFuncSetAttribute(pairs, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes<S>));
  const auto pointer = [](const cu::Memory& memory) { return reinterpret_cast<void*>(memory.address); };
  auto* const floats = static_cast<float*>(pointer(numbers));
  Attention attention{pointer(from), pointer(from), pointer(from), pointer(from), floats, n, n, 1, scale, true};
  Gradients gradients{pointer(from), pointer(to), pointer(to), pointer(to), nullptr, floats, floats, n};
  void* of_lesson[] = {&attention, &gradients};
  const double least = cu::median_device_seconds([&] {
    CU_CHECK(cuLaunchKernel(pairs, kN / S::kRows, kHeads, 1, kThreads<S>, 1, 1, kSharedBytes<S>, nullptr, of_lesson,
                            nullptr));
  });
  INFO("4096 rows in each of 32 heads: " << seconds * 1e3 << " ms, and " << least * 1e3
                                         << " ms for the lesson's kernel");
  CHECK(least / seconds >= 0.4);
}
