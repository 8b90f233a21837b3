// Checks the learner's kernel scan_warps() (exercise of 04-kernels/08-warps).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/numbers.hpp"

#include <fstream>
#include <numeric>
#include <sstream>
#include <vector>

namespace {

// Runs scan_warps on these numbers, with a thread for each.
std::vector<int> scanned(std::vector<int> numbers) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  const std::size_t bytes = numbers.size() * sizeof(int);
  cu::Memory memory(bytes);
  CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), bytes));
  void* arguments[] = {&memory.address};
  CU_CHECK(
      cuLaunchKernel(module.function("scan_warps"), 1, 1, 1, numbers.size(), 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, bytes));
  return numbers;
}

// Describes the first warp-level instruction that only some lanes of its mask have executed, or returns "".
std::string divergence(int threads) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  cu::Memory memory(threads * sizeof(int));
  CU_CHECK(cuMemsetD32(memory.address, 1, threads));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(counted.function("scan_warps"), 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  return counted.divergence(threads);
}

// 3 -1 4 -1 5 …: numbers of either sign that do not repeat soon.
std::vector<int> different(int count) {
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = i * 37 % 101 - 40;
  return numbers;
}

// The same on the CPU, 32 numbers at a time.
std::vector<int> expected(std::vector<int> numbers) {
  for (auto warp = numbers.begin(); warp != numbers.end(); warp += 32) std::partial_sum(warp, warp + 32, warp);
  return numbers;
}

// Describes the first wrong number of the scan, or returns kAllRight.
std::string verdict(const std::vector<int>& numbers) {
  const std::vector<int> got = scanned(numbers), right = expected(numbers);
  return judged("numbers", got.data(), static_cast<int>(got.size()), [&](int i) { return right[i]; });
}

}  // namespace

TEST_CASE("the first lane keeps its own number") { CHECK(scanned(different(32))[0] == different(32)[0]); }

TEST_CASE("all numbers are 1: lane n has n + 1") { CHECK(verdict(std::vector<int>(32, 1)) == kAllRight); }

TEST_CASE("different numbers: every lane has the sum up to its own") { CHECK(verdict(different(32)) == kAllRight); }

TEST_CASE("every warp starts its own sum") { CHECK(verdict(different(96)) == kAllRight); }

TEST_CASE("as many warps as a block can have") { CHECK(verdict(different(1024)) == kAllRight); }

// The result may be right by luck; another GPU may deadlock.
TEST_CASE("every lane in a shuffle's mask executes the shuffle") {
  CHECK(divergence(32) == "");
  CHECK(divergence(96) == "");
}

// __activemask() only reports which lanes are active now. It does not make the others execute the shuffle.
TEST_CASE("the mask is a constant, not the result of __activemask()") {
  std::ostringstream ptx;
  ptx << std::ifstream(cu::image("exercise.ptx")).rdbuf();
  const bool asks = ptx.str().find("activemask.b32") != std::string::npos;
  CHECK_FALSE(asks);
}
