// Checks the learner's kernel row_products() (exercise of 04-kernels/28-hopper-schedule).
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

constexpr int kRows = 64, kColumns = 32;  // of a box of a
constexpr std::size_t kBoxBytes = kRows * kColumns * sizeof(float);

// Floats that are small integers, so that all sums are exact.
std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>((i + seed) * 2654435761u % 32768 % 11) - 5;
  return numbers;
}
cu::Memory on_device(const std::vector<float>& numbers) {
  cu::Memory memory(numbers.size() * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), numbers.size() * sizeof(float)));
  return memory;
}

struct Matrices {
  int blocks, columns;
  std::vector<float> a, b;
  cu::Memory from_a, from_b, products;
  CUtensorMap map_a, map_b;

  Matrices(int blocks, int boxes)
      : blocks(blocks),
        columns(boxes * kColumns),
        a(numbers(std::size_t(blocks) * kRows * columns, 1)),
        b(numbers(std::size_t{kRows} * columns, 7)),
        from_a(on_device(a)),
        from_b(on_device(b)),
        products(std::size_t(blocks) * kRows * sizeof(float)),
        map_a(swizzled_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), from_a, blocks * kRows, columns, kRows)),
        map_b(swizzled_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), from_b, kRows, columns, kRows / 2)) {
    CU_CHECK(cuMemsetD32(products.address, 0xffffffff, std::size_t(blocks) * kRows));
  }

  void launch(CUfunction kernel) {
    int boxes = columns / kColumns;
    void* arguments[] = {&map_a, &map_b, &products.address, &boxes};
    CU_CHECK(cuLaunchKernel(kernel, blocks, 1, 1, kRows, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Describes the first wrong product, or returns "".
  std::string wrong() const {
    std::vector<float> got(std::size_t(blocks) * kRows);
    CU_CHECK(cuMemcpyDtoH(got.data(), products.address, got.size() * sizeof(float)));
    for (std::size_t row = 0; row < got.size(); ++row) {
      float sum = 0;
      for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * b[row % kRows * columns + k];
      if (got[row] != sum) {
        return "the product of row " + std::to_string(row) + " is " + std::to_string(got[row]) + ", not " +
               std::to_string(sum);
      }
    }
    return "";
  }
};

struct Observed {
  std::string wrong;  // a description of the first wrong product, or ""
  Watched::Counts counts;
};
Observed observed(int blocks, int boxes) {
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Matrices matrices(blocks, boxes);
  matrices.launch(watched.function("row_products"));
  CU_CHECK(cuCtxSynchronize());
  return {matrices.wrong(), watched.counts()};
}

}  // namespace

TEST_CASE("every wait for the barrier ends") {
  NEEDS_TMA();
  for (const int boxes : {1, 2, 5}) {
    const auto tries = observed(2, boxes).counts.tries;
    INFO(boxes << " steps: the threads have polled the barrier " << tries << " times, and were stopped");
    CHECK(tries < Watched::kMostTries);
  }
}

TEST_CASE("one step: every product is right") {
  NEEDS_TMA();
  CHECK(observed(2, 1).wrong == "");
}

TEST_CASE("several steps: every product is right") {
  NEEDS_TMA();
  INFO("The second block of each cluster reads its boxes later than the first.");
  for (const int boxes : {2, 3, 8}) {
    CAPTURE(boxes);
    CHECK(observed(2, boxes).wrong == "");
  }
}

TEST_CASE("several clusters: every product is right") {
  NEEDS_TMA();
  CHECK(observed(6, 3).wrong == "");
}

TEST_CASE("in every step, a block learns that the other one has read its boxes") {
  NEEDS_TMA();
  const auto few = observed(2, 1).counts.meetings, many = observed(2, 9).counts.meetings;
  INFO("waits for the cluster and arrivals at the other block: " << few << " in 1 step, " << many << " in 9 steps");
  CHECK(many >= few + 2 * 8);
}

TEST_CASE("each half of a box of b is loaded once, for both blocks") {
  NEEDS_TMA();
  const auto counts = observed(4, 5).counts;
  INFO("2 clusters, 5 steps: " << counts.loads << " TMA loads, of which " << counts.multicasts << " are multicasts");
  CHECK(counts.loads == 2 * 5 * (2 + 2));
  CHECK(counts.multicasts == 2 * 5 * 2);
}

TEST_CASE("the barrier expects the bytes of both halves") {
  NEEDS_TMA();
  const auto counts = observed(4, 5).counts;
  INFO("4 blocks, 5 steps: the barriers expect " << counts.expected_bytes << " bytes");
  CHECK(counts.expected_bytes == 4 * 5 * 2 * kBoxBytes);
}

TEST_CASE("a fence makes the new barrier visible to the TMA and to the other block") {
  NEEDS_TMA();
  CHECK(observed(2, 1).counts.fences >= 2);
}

TEST_CASE("shared memory is read without bank conflicts") {
  NEEDS_TMA();
  REQUIRE(observed(2, 3).wrong == "");
  cu::Context context;
  const Traffic traffic(cu::image("exercise.ptx"));
  Matrices matrices(2, 3);
  matrices.launch(traffic.function("row_products"));
  CU_CHECK(cuCtxSynchronize());
  CHECK(traffic.conflicting() == "");
}

TEST_CASE("on a GPU, the kernel reads a at 30% of the peak bandwidth") {
  NEEDS_TMA();
  if (cu::Context context; is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(observed(4, 4).wrong == "");
  cu::Context context;
  const double peak = cu::memory_limit(context.device);
  if (peak == 0) SKIP_TEST("the driver does not report the memory's clock");
  const cu::Module module(cu::image("exercise.ptx"));
  Matrices matrices(1024, 128);  // 1 GiB
  const double seconds = cu::median_device_seconds([&] { matrices.launch(module.function("row_products")); });
  const double share = static_cast<double>(matrices.a.size()) * sizeof(float) / seconds / 1e9 / peak;
  INFO("The kernel reaches " << share << " of " << peak << " GB/s.");
  CHECK(share >= 0.3);
}
