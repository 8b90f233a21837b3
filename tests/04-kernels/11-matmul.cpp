// Self-check of 04-kernels/11-matmul: judges the learner's kernel multiply().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

#include <vector>

namespace {

constexpr int kPast = 4096;  // floats past the end of c, in the same allocation
constexpr float kUntouched = -0.5f;

struct Counted {
  int wrong = 0;
  int past_the_end = 0;
};

// Small integers: every order of adding is exact.
std::vector<float> some_numbers(int count, int seed) {
  std::vector<float> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>((i * 7 + seed) % 11 - 5);
  return numbers;
}

Counted multiply(int rows, int inner, int columns) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const std::vector<float> a = some_numbers(rows * inner, 1), b = some_numbers(inner * columns, 4);
  std::vector<float> c(rows * columns + kPast, kUntouched);
  cu::Memory on_a(a.size() * sizeof(float)), on_b(b.size() * sizeof(float)), on_c(c.size() * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(on_a.address, a.data(), a.size() * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(on_b.address, b.data(), b.size() * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(on_c.address, c.data(), c.size() * sizeof(float)));
  void* arguments[] = {&on_a.address, &on_b.address, &on_c.address, &rows, &inner, &columns};
  CU_CHECK(cuLaunchKernel(module.function("multiply"), (columns + 15) / 16, (rows + 15) / 16, 1, 16, 16, 1, 0, nullptr,
                          arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(c.data(), on_c.address, c.size() * sizeof(float)));

  Counted counted;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      float sum = 0;
      for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * columns + x];
      counted.wrong += c[y * columns + x] != sum;
    }
  }
  for (int i = rows * columns; i < rows * columns + kPast; ++i) counted.past_the_end += c[i] != kUntouched;
  return counted;
}

int shared_bytes() {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("multiply")));
  return bytes;
}

}  // namespace

TEST_CASE("one tile") { CHECK(multiply(16, 16, 16).wrong == 0); }

TEST_CASE("a square of several tiles") { CHECK(multiply(64, 64, 64).wrong == 0); }

TEST_CASE("matrices that are not square") {
  CHECK(multiply(32, 16, 64).wrong == 0);
  CHECK(multiply(16, 64, 32).wrong == 0);
}

TEST_CASE("an inner side that is no multiple of a tile") {
  for (const int inner : {1, 5, 17, 40, 333}) {
    CAPTURE(inner);
    CHECK(multiply(32, inner, 32).wrong == 0);
  }
}

TEST_CASE("sides of c that are no multiples of a tile") {
  for (const int side : {1, 15, 33}) {
    CAPTURE(side);
    const Counted counted = multiply(side, 32, side + 4);
    CHECK(counted.wrong == 0);
    CHECK(counted.past_the_end == 0);
  }
}

TEST_CASE("each number is fetched into shared memory") { CHECK(shared_bytes() >= 2 * 16 * 16 * 4); }
