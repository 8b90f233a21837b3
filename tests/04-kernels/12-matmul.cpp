// Self-check of 04-kernels/12-matmul: judges the learner's kernel multiply().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"

#include <vector>

namespace {

constexpr int kPast = 4096;  // floats past the end of c, in the same allocation
constexpr float kUntouched = -0.5f;

struct Faults {
  int wrong = 0;
  int past_the_end = 0;
};

// Small integers: every order of adding is exact.
std::vector<float> some_numbers(int count, int seed) {
  std::vector<float> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>((i * 7 + seed) % 11 - 5);
  return numbers;
}

Faults multiply(int rows, int inner, int columns) {
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

  Faults faults;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      float sum = 0;
      for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * columns + x];
      faults.wrong += c[y * columns + x] != sum;
    }
  }
  for (int i = rows * columns; i < rows * columns + kPast; ++i) faults.past_the_end += c[i] != kUntouched;
  return faults;
}

int shared_bytes() {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("multiply")));
  return bytes;
}

struct Seen {
  std::size_t fetched;  // numbers, from global memory
  std::string parted;   // to which barrier some did not come
};

// What the kernel's threads do on their way to the result.
Seen watched(int rows, int inner, int columns) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  cu::Memory a(rows * inner * sizeof(float)), b(inner * columns * sizeof(float)), c(rows * columns * sizeof(float));
  CU_CHECK(cuMemsetD32(a.address, 0, rows * inner));
  CU_CHECK(cuMemsetD32(b.address, 0, inner * columns));
  void* arguments[] = {&a.address, &b.address, &c.address, &rows, &inner, &columns};
  CU_CHECK(cuLaunchKernel(counted.function("multiply"), (columns + 15) / 16, (rows + 15) / 16, 1, 16, 16, 1, 0, nullptr,
                          arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  return {counted.fetched()[0], counted.parted(16 * 16)};
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
    const Faults faults = multiply(side, 32, side + 4);
    CHECK(faults.wrong == 0);
    CHECK(faults.past_the_end == 0);
  }
}

TEST_CASE("each number is fetched into shared memory") { CHECK(shared_bytes() >= 2 * 16 * 16 * 4); }

// For one block, 16 rows of a and 16 columns of b. Loading them for each multiplication reads 16 times as many; who
// adds to c in each round reads that, too, which is slow and not wrong.
TEST_CASE("what is multiplied comes from the tiles") {
  const std::size_t needed = 2 * 16 * 64, fetched = watched(16, 64, 16).fetched;
  INFO("A block needs " << needed << " numbers of a and b; its threads have read " << fetched
                        << " numbers from global memory");
  CHECK(fetched <= 2 * needed);
}

TEST_CASE("a barrier is reached by all threads of the block, also those outside of c") {
  CHECK(watched(33, 40, 20).parted == "");
}
