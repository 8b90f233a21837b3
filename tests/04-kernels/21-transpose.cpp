// Checks the learner's kernel transpose() (exercise of 04-kernels/21-transpose).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/simulated.hpp"
#include "tests/traffic.hpp"

#include <vector>

namespace {

constexpr int kPast = 4096;  // floats past the end of out, in the same allocation
constexpr float kUntouched = -1;

void launch(CUfunction kernel, CUdeviceptr in, CUdeviceptr out, int rows, int columns) {
  void* arguments[] = {&in, &out, &rows, &columns};
  CU_CHECK(cuLaunchKernel(kernel, (columns + 31) / 32, (rows + 31) / 32, 1, 32, 8, 1, 0, nullptr, arguments, nullptr));
}

struct Result {
  int wrong = 0;
  int past_the_end = 0;
};

Result transpose(int rows, int columns) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const int count = rows * columns;
  std::vector<float> in(count), out(count + kPast, kUntouched);
  for (int i = 0; i < count; ++i) in[i] = static_cast<float>(i);
  cu::Memory from(count * sizeof(float)), to(out.size() * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(from.address, in.data(), count * sizeof(float)));
  CU_CHECK(cuMemcpyHtoD(to.address, out.data(), out.size() * sizeof(float)));
  launch(module.function("transpose"), from.address, to.address, rows, columns);
  CU_CHECK(cuMemcpyDtoH(out.data(), to.address, out.size() * sizeof(float)));

  Result result;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) result.wrong += out[x * rows + y] != in[y * columns + x];
  }
  for (int i = count; i < count + kPast; ++i) result.past_the_end += out[i] != kUntouched;
  return result;
}

// What the kernel does with 96 × 160 elements: 15 full tiles.
struct Observed {
  Traffic::Bytes bytes;
  std::string scattered, conflicting;  // a description of the first such access, or ""
};
constexpr int kRows = 96, kColumns = 160;
Observed observed() {
  cu::Context context;
  const Traffic traffic(cu::image("exercise.ptx"));
  const std::size_t bytes = kRows * kColumns * sizeof(float);
  cu::Memory in(bytes), out(bytes);
  CU_CHECK(cuMemsetD32(in.address, 1, kRows * kColumns));
  launch(traffic.function("transpose"), in.address, out.address, kRows, kColumns);
  CU_CHECK(cuCtxSynchronize());
  return {traffic.bytes(), traffic.scattered(), traffic.conflicting()};
}

}  // namespace

TEST_CASE("one tile") { CHECK(transpose(32, 32).wrong == 0); }

TEST_CASE("a square of several tiles") { CHECK(transpose(96, 96).wrong == 0); }

TEST_CASE("a wide matrix and a tall one") {
  CHECK(transpose(32, 128).wrong == 0);
  CHECK(transpose(160, 64).wrong == 0);
}

TEST_CASE("sides that are not multiples of a tile") {
  for (const int rows : {1, 31, 33, 70}) {
    for (const int columns : {1, 45, 64, 65}) {
      CAPTURE(rows, columns);
      const Result result = transpose(rows, columns);
      CHECK(result.wrong == 0);
      CHECK(result.past_the_end == 0);
    }
  }
}

TEST_CASE("every element is loaded once and stored once") {
  const Traffic::Bytes bytes = observed().bytes;
  const std::size_t once = kRows * kColumns * sizeof(float);
  INFO(kRows << " x " << kColumns << " floats are " << once << " bytes. Loaded from global memory: " << bytes.loaded
             << ", stored there: " << bytes.stored);
  CHECK(bytes.loaded == once);
  CHECK(bytes.stored == once);
}

TEST_CASE("a warp's loads and stores touch no more sectors of global memory than needed") {
  CHECK(observed().scattered == "");
}

TEST_CASE("shared memory is accessed without bank conflicts") { CHECK(observed().conflicting == ""); }

TEST_CASE("on a GPU, the kernel reaches 70% of the speed of a copy") {
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  cu::Module module(cu::image("exercise.ptx"));
  const CUfunction kernel = module.function("transpose");
  constexpr int kSide = 8192;
  constexpr std::size_t kBytes = sizeof(float) * kSide * kSide;
  cu::Memory in(kBytes), out(kBytes);
  CU_CHECK(cuMemsetD32(in.address, 1, kBytes / sizeof(float)));
  const double copy =
      cu::median_device_seconds([&] { CU_CHECK(cuMemcpyDtoDAsync(out.address, in.address, kBytes, nullptr)); });
  const double own = cu::median_device_seconds([&] { launch(kernel, in.address, out.address, kSide, kSide); });
  INFO("8192 x 8192 floats: a copy takes " << copy * 1e3 << " ms, the kernel " << own * 1e3 << " ms");
  CHECK(copy / own >= 0.7);
}
