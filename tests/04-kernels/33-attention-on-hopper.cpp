// Checks the learner's kernel attend() (exercise of 04-kernels/33-attention-on-hopper).
#include "04-kernels/tensor_map.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/hopper.hpp"
#include "tests/simulated.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kHead = 64, kRows = 64;
constexpr int kPast = 64 * kHead;  // elements past the end of each matrix, in the same allocation
constexpr std::uint16_t kNaN = 0xffff;

float number(std::uint16_t bfloat16) {
  const std::uint32_t bits = std::uint32_t{bfloat16} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

struct Size {
  int n, heads = 1, group = 1;
  float factor = 1;  // of the numbers in q
};

// A matrix on the device, of numbers from -2 to 2 in steps of 1/32 times a power of two, followed by NaNs.
class Matrix {
 public:
  Matrix(int rows, unsigned seed, float factor) : numbers_(std::size_t(rows) * kHead) {
    std::vector<std::uint16_t> elements(numbers_.size() + kPast, kNaN);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      unsigned hash = static_cast<unsigned>(i) * 2654435761u + seed;
      hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
      const float value = factor * static_cast<float>(static_cast<int>((hash >> 16) % 129) - 64) / 32;
      std::uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      elements[i] = static_cast<std::uint16_t>(bits >> 16);  // exact
      numbers_[i] = value;
    }
    memory_ = cu::Memory(2 * elements.size());
    CU_CHECK(cuMemcpyHtoD(memory_.address, elements.data(), 2 * elements.size()));
  }
  void* pointer() const { return reinterpret_cast<void*>(memory_.address); }
  const float* row(int row) const { return &numbers_[std::size_t(row) * kHead]; }

 private:
  std::vector<float> numbers_;
  cu::Memory memory_;
};

class Problem {
 public:
  explicit Problem(const Size& size)
      : size_(size),
        q_(size.heads * size.n, 1, size.factor),
        k_(size.heads / size.group * size.n, 77, 1),
        v_(size.heads / size.group * size.n, 345, 1) {
    CU_CHECK(cuMemsetD16(o_.address, kNaN, rows() * kHead + kPast));
    CU_CHECK(cuMemsetD32(lse_.address, 0xffffffff, rows() + kRows));
  }

  void launch(CUfunction kernel) {
    const auto map = [&](const Matrix& matrix, int heads) {
      return map_of_matrices(matrix.pointer(), heads, size_.n, kHead, kRows);
    };
    CUtensorMap q = map(q_, size_.heads), k = map(k_, size_.heads / size_.group),
                v = map(v_, size_.heads / size_.group);
    void* arguments[] = {&q, &k, &v, &o_.address, &lse_.address, &size_.n, &size_.group, &scale_};
    CU_CHECK(
        cuLaunchKernel(kernel, blocks() / size_.heads, size_.heads, 1, kGroup, 1, 1, 0, nullptr, arguments, nullptr));
  }
  int blocks() const { return (size_.n + kRows - 1) / kRows * size_.heads; }

  struct Wrong {
    int o, lse;  // how many elements are wrong, or have been written past the end
  };
  Wrong wrong() const {
    std::vector<std::uint16_t> o(rows() * kHead + kPast);
    std::vector<float> lse(rows() + kRows);
    CU_CHECK(cuMemcpyDtoH(o.data(), o_.address, 2 * o.size()));
    CU_CHECK(cuMemcpyDtoH(lse.data(), lse_.address, 4 * lse.size()));
    Wrong wrong{0, 0};
    for (std::size_t i = 0; i < rows(); ++i) {
      const Row right = exact(static_cast<int>(i));
      wrong.lse += !(std::abs(lse[i] - right.lse) <= 1e-4 + 1e-5 * std::abs(right.lse));
      for (int c = 0; c < kHead; ++c) {
        // Weights and o are rounded to bfloat16, each by at most 2^-9 of its value.
        wrong.o += !(std::abs(number(o[i * kHead + c]) - right.o[c]) <= 0.01 * right.magnitude[c]);
      }
    }
    for (std::size_t i = rows() * kHead; i < o.size(); ++i) wrong.o += o[i] != kNaN;
    for (std::size_t i = rows(); i < lse.size(); ++i) wrong.lse += !std::isnan(lse[i]);
    return wrong;
  }

 private:
  struct Row {
    double o[kHead], magnitude[kHead], lse;
  };
  Row exact(int row) const {
    const int head = row / size_.n, first = row % size_.n / kRows * kRows, keys = std::min(size_.n - first, kRows);
    const int key = head / size_.group * size_.n + first;
    std::vector<double> scores;
    for (int i = 0; i < keys; ++i) {
      double sum = 0;
      for (int c = 0; c < kHead; ++c) sum += double{q_.row(row)[c]} * k_.row(key + i)[c];
      scores.push_back(sum * scale_);
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - most);
    Row found{};
    for (int i = 0; i < keys; ++i) {
      for (int c = 0; c < kHead; ++c) {
        const double product = scores[i] / sum * v_.row(key + i)[c];
        found.o[c] += product, found.magnitude[c] += std::abs(product);
      }
    }
    found.lse = most + std::log(sum);
    return found;
  }
  std::size_t rows() const { return std::size_t(size_.heads) * size_.n; }

  Size size_;
  Matrix q_, k_, v_;
  cu::Memory o_{2 * (rows() * kHead + kPast)}, lse_{4 * (rows() + kRows)};
  float scale_ = 0.125f;
};

Problem::Wrong wrong(const Size& size) {
  cu::Context context;
  const cu::Module module(cu::image("exercise.ptx"));
  Problem problem(size);
  problem.launch(module.function("attend"));
  return problem.wrong();
}

// Two tiles in each of two heads.
constexpr Size kWatched{128, 2, 2};

struct Observed {
  Problem::Wrong wrong;
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
