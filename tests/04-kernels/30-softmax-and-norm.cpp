// Checks the learner's kernel softmax() (exercise of 04-kernels/30-softmax-and-norm).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/simulated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace {

constexpr int kThreads = 256, kMostColumns = 4096;
constexpr float kMasked = -std::numeric_limits<float>::infinity();

// A matrix and its softmax. Behind it, in the same allocation, follow numbers that are larger than all others.
class Problem {
 public:
  Problem(int rows, int columns, float factor = 1) : rows_(rows), columns_(columns), x_(std::size_t(rows) * columns) {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      unsigned hash = static_cast<unsigned>(i) * 2654435761U;
      hash = (hash ^ hash >> 15) * 0x2c1b3c6dU;
      x_[i] = factor * static_cast<float>(static_cast<int>((hash >> 16) % 1025) - 512) / 256;
    }
  }

  // Masks the elements of every row for which masked(column) is true.
  template <class Masked>
  Problem without(Masked masked) && {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (masked(static_cast<int>(i % columns_))) x_[i] = kMasked;
    }
    return std::move(*this);
  }

  // Returns what the kernel stores, and what follows it in the same allocation: NaN, if the kernel leaves it alone.
  std::vector<float> result(CUfunction kernel) const {
    std::vector<float> x = x_, y(x.size() + kMostColumns);
    x.resize(y.size(), 1e30F);
    const std::size_t bytes = sizeof(float) * y.size();
    const cu::Memory from(bytes), to(bytes);
    CU_CHECK(cuMemcpyHtoD(from.address, x.data(), bytes));
    CU_CHECK(cuMemsetD32(to.address, 0xffffffff, y.size()));
    CUdeviceptr in = from.address, out = to.address;
    int columns = columns_;
    void* arguments[] = {&in, &out, &columns};
    CU_CHECK(cuLaunchKernel(kernel, rows_, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
    CU_CHECK(cuMemcpyDtoH(y.data(), out, bytes));
    return y;
  }

  // How many elements are wrong, or have been written past the end.
  int wrong(const std::vector<float>& y) const {
    int wrong = 0;
    for (int row = 0; row < rows_; ++row) {
      const float *const from = &x_[std::size_t(row) * columns_], *const to = &y[std::size_t(row) * columns_];
      const double largest = *std::max_element(from, from + columns_);
      double sum = 0;
      for (int i = 0; i < columns_; ++i) sum += std::exp(from[i] - largest);
      for (int i = 0; i < columns_; ++i) {
        const double right = std::exp(from[i] - largest) / sum;
        wrong += !(std::abs(to[i] - right) <= 1e-4 * right + 1e-30);  // true for NaN
      }
    }
    for (std::size_t i = x_.size(); i < y.size(); ++i) wrong += !std::isnan(y[i]);
    return wrong;
  }

 private:
  int rows_, columns_;
  std::vector<float> x_;
};

int wrong(const Problem& problem) {
  cu::Context context;
  const cu::Module module(cu::image("exercise.ptx"));
  return problem.wrong(problem.result(module.function("softmax")));
}

// What the kernel executes for three rows of 4096 elements.
constexpr int kRows = 3;
template <class Look>
auto observed(Look look, int columns = kMostColumns) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  Problem(kRows, columns).result(counted.function("softmax"));
  return look(counted);
}

}  // namespace

TEST_CASE("a row that a warp could compute alone") {
  for (const int columns : {1, 2, 31, 32}) {
    CAPTURE(columns);
    CHECK(wrong({1, columns}) == 0);
  }
}

TEST_CASE("rows that need the whole block") {
  for (const int columns : {33, 255, 256}) {
    CAPTURE(columns);
    CHECK(wrong({2, columns}) == 0);
  }
}

TEST_CASE("each thread has several elements, up to 4096 in all") {
  for (const int columns : {257, 1000, 4095, 4096}) {
    CAPTURE(columns);
    CHECK(wrong({2, columns}) == 0);
  }
}

TEST_CASE("large elements do not overflow") {
  CHECK(wrong({2, 300, 1000}) == 0);
  CHECK(wrong({2, 300, -1000}) == 0);
}

TEST_CASE("masked elements have the result 0, also where a thread has no others") {
  CHECK(wrong(Problem(2, 512).without([](int column) { return column % 3 == 0; })) == 0);
  CHECK(wrong(Problem(2, 512).without([](int column) { return column % 256 < 100; })) == 0);
  CHECK(wrong(Problem(2, 300).without([](int column) { return column != 299; })) == 0);
}

TEST_CASE("each element of x is loaded once, and each element of y is stored once") {
  const Counted::Work done = observed([](const Counted& counted) { return counted.work(); });
  INFO(kRows * kMostColumns << " elements: " << done.loaded << " loaded, " << done.stored << " stored");
  CHECK(done.loaded == kRows * kMostColumns);
  CHECK(done.stored == kRows * kMostColumns);
}

// Merging the results of the threads takes some more, at most four for each thread.
TEST_CASE("one exponential for each element") {
  const double done = 32 * observed([](const Counted& counted) { return counted.executed_by_warps("ex2"); });
  INFO(kRows * kMostColumns << " elements: " << done << " exponentials");
  CHECK(done <= kRows * (kMostColumns + 4 * kThreads));
}

TEST_CASE("a barrier is reached by all threads of the block, a shuffle by all lanes of its mask") {
  for (const int columns : {100, kMostColumns}) {
    CAPTURE(columns);
    CHECK(observed([](const Counted& counted) { return counted.divergence(kThreads); }, columns) == "");
  }
}

TEST_CASE("on a GPU, the kernel reaches 70% of the peak bandwidth") {
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  const double peak = cu::memory_limit(context.device);
  if (peak == 0) SKIP_TEST("the driver does not report the memory's clock");
  const cu::Module module(cu::image("exercise.ptx"));
  const CUfunction kernel = module.function("softmax");
  const unsigned rows = 1 << 15;
  int columns = kMostColumns;
  const std::size_t bytes = sizeof(float) * rows * columns;
  cu::Memory x(bytes), y(bytes);
  CU_CHECK(cuMemsetD32(x.address, 0, bytes / 4));
  void* arguments[] = {&x.address, &y.address, &columns};
  const double seconds = cu::median_device_seconds(
      [&] { CU_CHECK(cuLaunchKernel(kernel, rows, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr)); });
  const double share = 2 * bytes / seconds / 1e9 / peak;
  INFO("The kernel reaches " << share << " of " << peak << " GB/s. Does each thread issue its loads before it waits?");
  CHECK(share >= 0.7);
}
