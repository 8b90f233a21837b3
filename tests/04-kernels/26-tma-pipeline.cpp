// Checks the learner's kernel row_sums() (exercise of 04-kernels/26-tma-pipeline).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/hopper.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <string>
#include <vector>

namespace {

constexpr int kRows = 64, kColumns = 32;  // of a box
constexpr std::size_t kBoxBytes = kRows * kColumns * sizeof(float);

// A matrix of floats that are small integers, so that all sums are exact, and its map for boxes of 64 × 32.
struct Matrix {
  int rows, columns;
  std::vector<float> elements;
  cu::Memory memory, sums;
  CUtensorMap map;

  Matrix(int blocks, int boxes)
      : rows(blocks * kRows),
        columns(boxes * kColumns),
        elements(static_cast<std::size_t>(rows) * columns),
        memory(elements.size() * sizeof(float)),
        sums(rows * sizeof(float)),
        map(swizzled_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), memory, rows, columns, kRows)) {
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i * 2654435761u % 32768 % 101);
    CU_CHECK(cuMemcpyHtoD(memory.address, elements.data(), elements.size() * sizeof(float)));
    CU_CHECK(cuMemsetD32(sums.address, 0xffffffff, rows));
  }

  void launch(CUfunction kernel) {
    int boxes = columns / kColumns;
    void* arguments[] = {&map, &sums.address, &boxes};
    CU_CHECK(cuLaunchKernel(kernel, rows / kRows, 1, 1, kRows, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Describes the first wrong sum, or returns "".
  std::string wrong() const {
    std::vector<float> got(rows);
    CU_CHECK(cuMemcpyDtoH(got.data(), sums.address, got.size() * sizeof(float)));
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      for (int column = 0; column < columns; ++column)
        sum += elements[static_cast<std::size_t>(row) * columns + column];
      if (got[row] != sum)
        return "the sum of row " + std::to_string(row) + " is " + std::to_string(got[row]) + ", not " +
               std::to_string(sum);
    }
    return "";
  }
};

// What one launch of the instrumented kernel has done.
struct Observed {
  std::string wrong;  // a description of the first wrong sum, or ""
  Watched::Counts counts;
};
Observed observed(int blocks, int boxes) {
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Matrix matrix(blocks, boxes);
  matrix.launch(watched.function("row_sums"));
  CU_CHECK(cuCtxSynchronize());
  return {matrix.wrong(), watched.counts()};
}

// Leaves NaNs in the shared memory of all multiprocessors, so that a box that is read too early is noticed: an earlier
// launch may have left the right elements there.
void leave_nans() {
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Matrix matrix(is_simulated(context.device) ? 1 : 4096, 1);
  CU_CHECK(cuMemsetD32(matrix.memory.address, 0xffffffff, matrix.elements.size()));
  matrix.launch(watched.function("row_sums"));
  CU_CHECK(cuCtxSynchronize());
}

}  // namespace

TEST_CASE("every wait for the barrier ends") {
  NEEDS_TMA();
  for (const int boxes : {1, 2, 5}) {
    const auto tries = observed(1, boxes).counts.tries;
    INFO(boxes << " boxes: the threads have polled the barrier " << tries << " times, and were stopped");
    CHECK(tries < Watched::kMostTries);
  }
}

TEST_CASE("one box: every row has its sum") {
  NEEDS_TMA();
  leave_nans();
  CHECK(observed(1, 1).wrong == "");
}

TEST_CASE("several boxes: every row has its sum") {
  NEEDS_TMA();
  for (const int boxes : {2, 3, 8}) {
    CAPTURE(boxes);
    CHECK(observed(1, boxes).wrong == "");
  }
}

TEST_CASE("several blocks: every row has its sum") {
  NEEDS_TMA();
  CHECK(observed(3, 4).wrong == "");
}

TEST_CASE("the TMA loads each box once") {
  NEEDS_TMA();
  const Observed found = observed(2, 5);
  INFO("2 blocks of 5 boxes: " << found.counts.loads << " TMA loads");
  CHECK(found.counts.loads == 10);
}

TEST_CASE("the barrier expects the bytes of each box") {
  NEEDS_TMA();
  const Observed found = observed(2, 5);
  INFO("2 blocks of 5 boxes of " << kBoxBytes << " bytes: the barrier expects " << found.counts.expected_bytes);
  CHECK(found.counts.expected_bytes == 10 * kBoxBytes);
}

// Without the fence, the result may be right by luck.
TEST_CASE("a fence makes the new barrier visible to the TMA") {
  NEEDS_TMA();
  CHECK(observed(1, 1).counts.fences >= 1);
}

TEST_CASE("shared memory is read without bank conflicts") {
  NEEDS_TMA();
  REQUIRE(observed(1, 3).wrong == "");
  cu::Context context;
  const Traffic traffic(cu::image("exercise.ptx"));
  Matrix matrix(1, 3);
  matrix.launch(traffic.function("row_sums"));
  CU_CHECK(cuCtxSynchronize());
  CHECK(traffic.conflicting() == "");
}

TEST_CASE("on a GPU, the kernel reaches 50% of the peak bandwidth") {
  NEEDS_TMA();
  if (cu::Context context; is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(observed(3, 4).wrong == "");
  cu::Context context;
  const double peak = cu::memory_limit(context.device);
  if (peak == 0) SKIP_TEST("the driver does not report the memory's clock");
  cu::Module module(cu::image("exercise.ptx"));
  Matrix matrix(2048, 64);  // 1 GiB
  const double seconds = cu::median_device_seconds([&] { matrix.launch(module.function("row_sums")); });
  const double share = static_cast<double>(matrix.rows) * matrix.columns * sizeof(float) / seconds / 1e9 / peak;
  INFO("The kernel reaches " << share << " of " << peak << " GB/s.");
  CHECK(share >= 0.5);
}
