// Checks the learner's kernel linear() (exercise of 04-kernels/27-wgmma).
#include "04-kernels/27-wgmma/shape.hpp"
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/bfloat16.hpp"
#include "tests/catch.hpp"
#include "tests/hopper.hpp"
#include "tests/simulated.hpp"

#include <cstdint>
#include <vector>

namespace {

// Mostly zeros, and integers whose sums of products are small enough to be exact in bfloat16.
std::vector<float> numbers(int count, int seed) {
  std::vector<float> numbers(count);
  for (int i = 0; i < count; ++i) {
    const unsigned hash = (static_cast<unsigned>(i + seed) * 2654435761u) >> 16;
    numbers[i] = static_cast<float>(hash % 4 == 0 ? static_cast<int>(hash / 4 % 5) - 2 : 0);
  }
  return numbers;
}
cu::Memory on_device(const std::vector<float>& numbers) {
  std::vector<std::uint16_t> elements(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) elements[i] = bfloat16(numbers[i]);
  cu::Memory memory(2 * elements.size());
  CU_CHECK(cuMemcpyHtoD(memory.address, elements.data(), 2 * elements.size()));
  return memory;
}

// rows × inner elements of x, columns × inner of w, and y on the device, which begins as NaNs.
struct Matrices {
  int rows, columns, inner;
  std::vector<float> x, w;
  cu::Memory from_x, from_w, y;

  Matrices(int rows, int columns, int inner)
      : rows(rows),
        columns(columns),
        inner(inner),
        x(numbers(rows * inner, 1)),
        w(numbers(columns * inner, 4)),
        from_x(on_device(x)),
        from_w(on_device(w)),
        y(std::size_t{2} * rows * columns) {
    CU_CHECK(cuMemsetD16(y.address, 0xffff, std::size_t(rows) * columns));
  }

  void launch(CUfunction kernel) {
    CUtensorMap map_x = map_of(from_x.address, rows, inner), map_w = map_of(from_w.address, columns, inner);
    void* arguments[] = {&map_x, &map_w, &y.address, &columns, &inner};
    CU_CHECK(cuLaunchKernel(kernel, columns / kBox, rows / kBox, 1, kGroup, 1, 1, 0, nullptr, arguments, nullptr));
  }

  // Returns how many elements of y are wrong.
  int wrong() const {
    std::vector<std::uint16_t> got(std::size_t(rows) * columns);
    CU_CHECK(cuMemcpyDtoH(got.data(), y.address, 2 * got.size()));
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        float sum = 0;
        for (int k = 0; k < inner; ++k) sum += x[row * inner + k] * w[column * inner + k];
        wrong += got[std::size_t(row) * columns + column] != bfloat16(sum);
      }
    }
    return wrong;
  }
};

struct Observed {
  int wrong;  // elements
  Watched::Counts counts;
};
Observed observed(int rows, int columns, int inner) {
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Matrices matrices(rows, columns, inner);
  matrices.launch(watched.function("linear"));
  CU_CHECK(cuCtxSynchronize());
  return {matrices.wrong(), watched.counts()};
}

int wrong(int rows, int columns, int inner) {
  cu::Context context;
  const cu::Module module(cu::image("exercise.ptx"));
  Matrices matrices(rows, columns, inner);
  matrices.launch(module.function("linear"));
  return matrices.wrong();
}

}  // namespace

TEST_CASE("one step: every element is right") {
  NEEDS_WGMMA();
  CHECK(wrong(64, 64, 64) == 0);
}

TEST_CASE("several steps: every product is added") {
  NEEDS_WGMMA();
  for (const int inner : {128, 320}) {
    CAPTURE(inner);
    CHECK(wrong(64, 64, inner) == 0);
  }
}

TEST_CASE("several tiles: every block computes its own") {
  NEEDS_WGMMA();
  CHECK(wrong(192, 64, 64) == 0);
  CHECK(wrong(128, 192, 128) == 0);
}

TEST_CASE("the inner dimension is any multiple of 8") {
  NEEDS_WGMMA();
  for (const int inner : {8, 72, 136}) {
    CAPTURE(inner);
    CHECK(wrong(64, 128, inner) == 0);
  }
}

TEST_CASE("the tensor cores multiply: one wgmma for every 64 x 64 x 16 products") {
  NEEDS_WGMMA();
  const Observed found = observed(128, 64, 192);
  INFO("128 x 64 x 192: the threads have executed " << found.counts.multiplications << " wgmma in all");
  CHECK(found.counts.multiplications == 2 * 3 * 4 * kGroup);
}

TEST_CASE("a fence orders the sums before the multiplications") {
  NEEDS_WGMMA();
  CHECK(observed(64, 64, 64).counts.wgmma_fences >= kGroup);
}

TEST_CASE("the sums are complete before they are stored") {
  NEEDS_WGMMA();
  const Observed found = observed(64, 64, 64);
  INFO("groups of wgmma that were still in progress when a thread stored a sum");
  CHECK(found.counts.unfinished == 0);
  CHECK(found.wrong == 0);
}

TEST_CASE("boxes are not loaded again before they have been multiplied") {
  NEEDS_WGMMA();
  const Observed found = observed(64, 64, 256);
  INFO("groups of wgmma that were still in progress when their thread loaded the next boxes");
  CHECK(found.counts.unfinished == 0);
}

TEST_CASE("on a GPU, the kernel reaches half of the speed of the lesson's narrow") {
  NEEDS_WGMMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(wrong(128, 192, 128) == 0);
  constexpr int kSide = 4096;
  const std::size_t bytes = std::size_t{2} * kSide * kSide;
  const cu::Memory x(bytes), w(bytes), y(bytes);
  CU_CHECK(cuMemsetD32(x.address, 0, bytes / 4));
  CU_CHECK(cuMemsetD32(w.address, 0, bytes / 4));
  const cu::Module exercise(cu::image("exercise.ptx")), lesson(cu::image("kernels.ptx"));
  CUtensorMap map_x = map_of(x.address, kSide, kSide), map_w = map_of(w.address, kSide, kSide);
  CUdeviceptr to = y.address;
  int side = kSide;
  void* arguments[] = {&map_x, &map_w, &to, &side, &side};
  const auto launch = [&](CUfunction kernel, int across, int down, int shared, void** with) {
    CU_CHECK(cuLaunchKernel(kernel, across, down, 1, kGroup, 1, 1, shared, nullptr, with, nullptr));
  };
  const double seconds =
      cu::median_device_seconds([&] { launch(exercise.function("linear"), kSide / kBox, kSide / kBox, 0, arguments); });
  const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
  Product product{map_x, map_w, pointer(x.address), pointer(w.address), pointer(y.address), kSide};
  void* of_lesson[] = {&product};
  const double narrow = cu::median_device_seconds([&] {
    launch(lesson.function("narrow"), kSide / kBox * (kSide / kNarrow), 1, bytes_of_step(kNarrow), of_lesson);
  });
  INFO("4096 x 4096 x 4096: " << seconds * 1e3 << " ms, and " << narrow * 1e3 << " ms for the kernel `narrow`");
  CHECK(narrow / seconds >= 0.5);
}
