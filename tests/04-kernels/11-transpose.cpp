// Self-check of 04-kernels/11-transpose: judges the learner's kernel transpose().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kPast = 4096;  // floats past the end of out, in the same allocation
constexpr float kUntouched = -1;

struct Counted {
  int wrong = 0;
  int past_the_end = 0;
};

Counted transpose(int rows, int columns) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const int count = rows * columns;
  std::vector<float> in(count), out(count + kPast, kUntouched);
  for (int i = 0; i < count; ++i) in[i] = static_cast<float>(i);
  cu::Memory from(count * sizeof(float)), to(out.size() * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(from.address, in.data(), count * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(to.address, out.data(), out.size() * sizeof(float)));
  void* arguments[] = {&from.address, &to.address, &rows, &columns};
  CU_CHECK(cuLaunchKernel(module.function("transpose"), (columns + 31) / 32, (rows + 31) / 32, 1, 32, 8, 1, 0, nullptr,
                          arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(out.data(), to.address, out.size() * sizeof(float)));

  Counted counted;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) counted.wrong += out[x * rows + y] != in[y * columns + x];
  }
  for (int i = count; i < count + kPast; ++i) counted.past_the_end += out[i] != kUntouched;
  return counted;
}

// How much shared memory the kernel has: 0 if it moves the numbers directly.
int shared_bytes() {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("transpose")));
  return bytes;
}

// What a lone warp makes of its part of one tile: of an `in` that counts from `first` on, and an `out` full of -1.
std::vector<float> by_one_warp(float first) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int side = 32;
  std::vector<float> in(side * side), out(side * side, kUntouched);
  for (float& number : in) number = first++;
  cu::Memory from(4096), to(4096);
  CU_CHECK(cuMemcpyHtoD(from.address, in.data(), 4096));
  CU_CHECK(cuMemcpyHtoD(to.address, out.data(), 4096));
  void* arguments[] = {&from.address, &to.address, &side, &side};
  CU_CHECK(cuLaunchKernel(module.function("transpose"), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(out.data(), to.address, 4096));
  return out;
}

}  // namespace

TEST_CASE("one tile") { CHECK(transpose(32, 32).wrong == 0); }

TEST_CASE("a square of several tiles") { CHECK(transpose(96, 96).wrong == 0); }

TEST_CASE("a wide matrix and a tall one") {
  CHECK(transpose(32, 128).wrong == 0);
  CHECK(transpose(160, 64).wrong == 0);
}

TEST_CASE("sides that are no multiples of a tile") {
  for (const int rows : {1, 31, 33, 70}) {
    for (const int columns : {1, 45, 64, 65}) {
      CAPTURE(rows, columns);
      const Counted counted = transpose(rows, columns);
      CHECK(counted.wrong == 0);
      CHECK(counted.past_the_end == 0);
    }
  }
}

TEST_CASE("a tile goes through shared memory") { CHECK(shared_bytes() >= 32 * 32 * 4); }

// With fewer threads than it is made for, a block does a part of its tile, and which part shows who reads and writes
// where. (If it does all of it, it goes by the block's size, and nothing can be seen.)
const char* const kHalfATile = "the rest of the tile is never written, as CUDASIM_CHECK says";

TEST_CASE("a warp stores to consecutive addresses") {
  if (std::getenv("CUDASIM_CHECK") != nullptr) SKIP_TEST(kHalfATile);
  const std::vector<float> out = by_one_warp(1);
  int rows_in_part = 0;
  for (int row = 0; row < 32; ++row) {
    const auto untouched = std::count(&out[32 * row], &out[32 * row] + 32, kUntouched);
    rows_in_part += untouched != 0 && untouched != 32;
  }
  CHECK(rows_in_part == 0);
}

// What it has written and not read remains in shared memory from an earlier kernel, so each of two times something
// else. A sector holds 8 elements, so 32 threads that read a row touch four sectors; a column would be 32.
TEST_CASE("a warp loads from consecutive addresses") {
  if (std::getenv("CUDASIM_CHECK") != nullptr) SKIP_TEST(kHalfATile);
  const std::vector<float> once = by_one_warp(1), again = by_one_warp(5001);
  int most_of_a_column = 0, all = 0;
  for (int column = 0; column < 32; ++column) {
    int read = 0;
    for (int row = 0; row < 32; ++row) {
      const int from = 32 * row + column, to = 32 * column + row;
      read += once[to] == static_cast<float>(1 + from) && again[to] == static_cast<float>(5001 + from);
    }
    most_of_a_column = std::max(most_of_a_column, read);
    all += read;
  }
  INFO("Of one column of in, in which each element is in a sector of its own, one warp has read " << most_of_a_column);
  CHECK((all == 1024 || most_of_a_column <= 16));
}
