// Checks the learner's kernel attend() (exercise of 04-kernels/33-attention-on-hopper).
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/attention.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/hopper.hpp"
#include "tests/simulated.hpp"

#include <algorithm>
#include <string>

namespace {

struct Size {
  int n, heads = 1, group = 1;
  float factor = 1;  // of the numbers in q
};

class Problem {
 public:
  explicit Problem(const Size& size)
      : size_(size),
        q_(size.heads * size.n, 1, size.factor),
        k_(size.heads / size.group * size.n, 77, 1),
        v_(size.heads / size.group * size.n, 345, 1),
        output_(std::size_t(size.heads) * size.n) {}

  void launch(CUfunction kernel) {
    const auto map = [&](const Matrix& matrix, int heads) {
      return map_of_matrices(reinterpret_cast<void*>(matrix.address()), heads, size_.n, kHead, kRows);
    };
    CUtensorMap q = map(q_, size_.heads), k = map(k_, size_.heads / size_.group),
                v = map(v_, size_.heads / size_.group);
    void* arguments[] = {&q, &k, &v, &output_.o.address, &output_.lse.address, &size_.n, &size_.group, &scale_};
    CU_CHECK(
        cuLaunchKernel(kernel, blocks() / size_.heads, size_.heads, 1, kGroup, 1, 1, 0, nullptr, arguments, nullptr));
  }
  int blocks() const { return (size_.n + kRows - 1) / kRows * size_.heads; }

  Wrong wrong() const {
    return output_.wrong([&](int row) { return exact(row); });
  }

 private:
  Row exact(int row) const {
    const int first = row % size_.n / kRows * kRows, key = row / size_.n / size_.group * size_.n + first;
    return exact_row(q_.row(row), k_, v_, key, std::min(size_.n - first, kRows));
  }

  Size size_;
  Matrix q_, k_, v_;
  Output output_;
  float scale_ = kScale;
};

Wrong wrong(const Size& size) {
  cu::Context context;
  const cu::Module module(cu::image("exercise.ptx"));
  Problem problem(size);
  problem.launch(module.function("attend"));
  return problem.wrong();
}

// Two tiles in each of two heads.
constexpr Size kWatched{128, 2, 2};

struct Observed {
  Wrong wrong;
  Watched::Counts counts;
  unsigned long long blocks;
};
Observed observed() {
  cu::Context context;
  const Watched watched(cu::image("exercise.ptx"));
  Problem problem(kWatched);
  problem.launch(watched.function("attend"));
  CU_CHECK(cuCtxSynchronize());
  return {problem.wrong(), watched.counts(), static_cast<unsigned long long>(problem.blocks())};
}
double executed(const std::string& mnemonic, const std::string& modifier = "") {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  Problem problem(kWatched);
  problem.launch(counted.function("attend"));
  CU_CHECK(cuCtxSynchronize());
  return counted.executed_by_warps(mnemonic, modifier);
}

}  // namespace

TEST_CASE("one tile: every element of o is right") {
  NEEDS_WGMMA();
  CHECK(wrong({64}).o == 0);
}

TEST_CASE("several tiles and heads: each block computes its own rows") {
  NEEDS_WGMMA();
  CHECK(wrong({192}).o == 0);
  CHECK(wrong({64, 4, 2}).o == 0);
}

TEST_CASE("any number of rows: keys past the end are not used") {
  NEEDS_WGMMA();
  for (const int n : {1, 63, 65}) {
    CAPTURE(n);
    CHECK(wrong({n, 2}).o == 0);
  }
}

TEST_CASE("large scores do not overflow") {
  NEEDS_WGMMA();
  CHECK(wrong({64, 1, 1, 32}).o == 0);
}

TEST_CASE("lse is the natural logarithm of the sum of the exponentials") {
  NEEDS_WGMMA();
  REQUIRE(wrong({65, 2}).o == 0);
  CHECK(wrong({65, 2}).lse == 0);
  CHECK(wrong({64, 1, 1, 32}).lse == 0);
}

TEST_CASE("the scores are complete before their exponentials are computed") {
  NEEDS_WGMMA();
  const Observed found = observed();
  INFO("groups of wgmma that were still in progress when a thread computed an exponential");
  CHECK(found.counts.early_powers == 0);
  CHECK(found.wrong.o == 0);
}

TEST_CASE("the output is complete before it is stored") {
  NEEDS_WGMMA();
  const Observed found = observed();
  INFO("groups of wgmma that were still in progress when a thread stored an element");
  CHECK(found.counts.unfinished == 0);
  CHECK(found.wrong.o == 0);
}

TEST_CASE("a fence orders the registers before each product") {
  NEEDS_WGMMA();
  const Observed found = observed();
  CHECK(found.counts.wgmma_fences >= 2 * kGroup * found.blocks);
}

TEST_CASE("the weights stay in registers: wgmma takes them from there") {
  NEEDS_WGMMA();
  const Observed found = observed();
  INFO("for each block, its threads execute 4 instructions for the scores and 4 for the output");
  CHECK(found.counts.multiplications == 8 * kGroup * found.blocks);
  CHECK(found.counts.from_registers == 4 * kGroup * found.blocks);
  CHECK(executed("st", ".shared") == 0);
}

TEST_CASE("the TMA loads each tile once") {
  NEEDS_WGMMA();
  const Observed found = observed();
  INFO("a block needs one tile of q, one of k and one of v, of " << kBoxBytes << " bytes each");
  CHECK(found.counts.expected_bytes == 3 * kBoxBytes * found.blocks);
  CHECK(found.counts.loads == 3 * found.blocks);
  CHECK(found.counts.tries < Watched::kMostTries);
}

TEST_CASE("on a GPU, the kernel reads and writes at 15% of the peak bandwidth") {
  NEEDS_WGMMA();
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  REQUIRE(wrong({128, 2, 2}).o == 0);
  const double peak = cu::memory_limit(context.device);
  if (peak == 0) SKIP_TEST("the driver does not report the memory's clock");
  int n = 1 << 15, group = 1;
  constexpr int kHeads = 64;
  const std::size_t bytes = std::size_t{2} * kHeads * n * kHead;
  const cu::Memory from(bytes), o(bytes), lse(std::size_t{4} * kHeads * n);
  CU_CHECK(cuMemsetD32(from.address, 0, bytes / 4));
  const cu::Module module(cu::image("exercise.ptx"));
  CUtensorMap map = map_of_matrices(reinterpret_cast<void*>(from.address), kHeads, n, kHead, kRows);
  CUdeviceptr to = o.address, to_lse = lse.address;
  float scale = 0.125f;
  void* arguments[] = {&map, &map, &map, &to, &to_lse, &n, &group, &scale};
  const CUfunction attend = module.function("attend");
  const double seconds = cu::median_device_seconds(
      [&] { CU_CHECK(cuLaunchKernel(attend, n / kRows, kHeads, 1, kGroup, 1, 1, 0, nullptr, arguments, nullptr)); });
  const double share = 2 * static_cast<double>(bytes) / seconds / 1e9 / peak;  // q, k and v are the same matrix here
  INFO("The kernel reaches " << share << " of " << peak << " GB/s.");
  CHECK(share >= 0.15);
}
