// Checks the learner's kernel evaluate() (exercise of 04-kernels/19-roofline).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace {

struct Polynomial {
  int degree;
  float factor[16];
};

// Integer coefficients and small integers for x: every intermediate value is exact in a float.
Polynomial polynomial(int degree) {
  Polynomial p{degree, {}};
  for (int k = 0; k <= degree; ++k) p.factor[k] = static_cast<float>(k % 3 + 1);
  return p;
}

float by_hand(const Polynomial& p, float x) {
  float sum = 0;
  for (int k = p.degree; k >= 0; --k) sum = sum * x + p.factor[k];
  return sum;
}

constexpr float kUntouched = -77;

// What the kernel leaves in y: n values, and 64 more that it must not touch.
std::vector<float> evaluate(const Polynomial& p, const std::vector<float>& x, int blocks, int threads) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  unsigned long long n = x.size();
  std::vector<float> y(n + 64, kUntouched);
  cu::Memory device_x((n + 64) * sizeof(float)), device_y(y.size() * sizeof(float));
  CU_CHECK(cuMemsetD8(device_x.address, 0, (n + 64) * sizeof(float)));
  if (n > 0) CU_CHECK(cuMemcpyHtoD(device_x.address, x.data(), n * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(device_y.address, y.data(), y.size() * sizeof(float)));
  Polynomial copy = p;
  void* arguments[] = {&device_x.address, &device_y.address, &copy, &n};
  CU_CHECK(cuLaunchKernel(module.function("evaluate"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(y.data(), device_y.address, y.size() * sizeof(float)));
  return y;
}

std::vector<float> small_integers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(static_cast<int>(i % 5) - 2);
  return x;
}

// Describes the first wrong element of y, or returns "".
std::string wrong_in(const std::vector<float>& y, const Polynomial& p, const std::vector<float>& x) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float right = i < x.size() ? by_hand(p, x[i]) : kUntouched;
    if (y[i] == right) continue;
    if (i >= x.size()) return "y[" + std::to_string(i) + "] was written, but n is " + std::to_string(x.size());
    return "y[" + std::to_string(i) + "] is " + std::to_string(y[i]) + ", expected " + std::to_string(right);
  }
  return "";
}

// Launches the kernel with counters on 4096 elements and returns them.
Counted::Work work(int degree) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  unsigned long long n = 4096;
  const std::vector<float> x = small_integers(n);
  cu::Memory device_x(n * sizeof(float)), device_y(n * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(device_x.address, x.data(), n * sizeof(float)));
  CU_CHECK(cuMemsetD8(device_y.address, 0, n * sizeof(float)));
  Polynomial p = polynomial(degree);
  void* arguments[] = {&device_x.address, &device_y.address, &p, &n};
  CU_CHECK(cuLaunchKernel(counted.function("evaluate"), 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  return counted.work();
}

}  // namespace

TEST_CASE("every value is right, for every degree") {
  for (const int degree : {0, 1, 2, 5, 9}) {
    CAPTURE(degree);
    const std::vector<float> x = small_integers(1000);
    CHECK(wrong_in(evaluate(polynomial(degree), x, 4, 256), polynomial(degree), x) == "");
  }
}

TEST_CASE("any number of blocks and threads works") {
  const std::vector<float> x = small_integers(10000);
  for (const auto& [blocks, threads] : {std::pair{1, 32}, {3, 96}, {50, 256}}) {
    CAPTURE(blocks, threads);
    CHECK(wrong_in(evaluate(polynomial(3), x, blocks, threads), polynomial(3), x) == "");
  }
}

TEST_CASE("nothing past element n is written") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{257}}) {
    CAPTURE(n);
    const std::vector<float> x = small_integers(n);
    CHECK(wrong_in(evaluate(polynomial(2), x, 2, 256), polynomial(2), x) == "");
  }
}

TEST_CASE("each element is loaded once and stored once") {
  const Counted::Work done = work(8);
  INFO("4096 elements, " << done.loaded << " values loaded from global memory, " << done.stored << " stored");
  CHECK((done.loaded == 4096 && done.stored == 4096));
}

TEST_CASE("one multiply-add per degree and element") {
  const Counted::Work done = work(8);
  INFO("4096 elements, degree 8: " << done.arithmetic << " FP32 instructions, " << 4096 * 8 << " are enough");
  CHECK(done.arithmetic <= 4096 * 8 + 4096);  // a compiler may add one more per element
}
