// Checks the learner's kernel saxpy() (exercise of 04-kernels/03-vector-add).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/numbers.hpp"

#include <vector>

namespace {

constexpr int kPast = 64;            // elements past the end of y, in the same allocation
constexpr float kUntouched = -1.0f;  // their value

// Runs saxpy on n elements: x is 0 1 2 3 …, y is 5 everywhere, a is 2. Returns y and the elements past its end.
std::vector<float> saxpy(int n, int blocks, int threads) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const std::size_t bytes = (n + kPast) * sizeof(float);
  cu::Memory x(bytes), y(bytes);
  std::vector<float> host(n + kPast);
  for (int i = 0; i < n + kPast; ++i) host[i] = i;
  CU_CHECK(cuMemcpyHtoD(x.address, host.data(), bytes));
  for (int i = 0; i < n + kPast; ++i) host[i] = i < n ? 5.0f : kUntouched;
  CU_CHECK(cuMemcpyHtoD(y.address, host.data(), bytes));

  float a = 2.0f;
  void* arguments[] = {&n, &a, &x.address, &y.address};
  CU_CHECK(cuLaunchKernel(module.function("saxpy"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(host.data(), y.address, bytes));
  return host;
}

// Describes the first wrong element of y, or a change past its end.
std::string verdict(const std::vector<float>& y, int n) {
  for (int i = n; i < n + kPast; ++i) {
    if (y[i] != kUntouched) return "y[" + std::to_string(i) + "], past the end, was written";
  }
  return judged("y", y.data(), n, [](int i) { return 2.0f * i + 5.0f; });
}

}  // namespace

TEST_CASE("one thread per element: all elements are computed") {
  CHECK(verdict(saxpy(1024, 4, 256), 1024) == kAllRight);
}

TEST_CASE("more threads than elements: memory past the last element is unchanged") {
  CHECK(verdict(saxpy(1000, 4, 256), 1000) == kAllRight);
}

TEST_CASE("fewer threads than elements: all elements are computed") {
  CHECK(verdict(saxpy(1000, 2, 256), 1000) == kAllRight);
  CHECK(verdict(saxpy(1000, 1, 32), 1000) == kAllRight);
}

TEST_CASE("a prime number of elements: all elements are computed") {
  CHECK(verdict(saxpy(997, 2, 64), 997) == kAllRight);
}

TEST_CASE("many blocks: every element is computed once") {
  CHECK(verdict(saxpy(16384, 4096, 256), 16384) == kAllRight);
}

TEST_CASE("no elements: nothing changes") { CHECK(verdict(saxpy(0, 1, 32), 0) == kAllRight); }
