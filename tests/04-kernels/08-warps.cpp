// Self-check of 04-kernels/08-warps: judges the learner's kernel scan_warps().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

#include <numeric>
#include <vector>

namespace {

// Runs scan_warps on these numbers, a thread for each.
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

// 3 -1 4 -1 5 …: numbers of either sign that do not repeat soon.
std::vector<int> different(int count) {
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = i * 37 % 101 - 40;
  return numbers;
}

// As the CPU does it: 32 by 32.
std::vector<int> expected(std::vector<int> numbers) {
  for (auto warp = numbers.begin(); warp != numbers.end(); warp += 32) std::partial_sum(warp, warp + 32, warp);
  return numbers;
}

}  // namespace

TEST_CASE("the first lane keeps its own number") { CHECK(scanned(different(32))[0] == different(32)[0]); }

TEST_CASE("ones: lane n has n + 1") {
  std::vector<int> counted(32);
  std::iota(counted.begin(), counted.end(), 1);
  CHECK(scanned(std::vector<int>(32, 1)) == counted);
}

TEST_CASE("different numbers: every lane has the sum up to its own") {
  CHECK(scanned(different(32)) == expected(different(32)));
}

TEST_CASE("every warp begins anew") { CHECK(scanned(different(96)) == expected(different(96))); }

TEST_CASE("as many warps as a block can have") { CHECK(scanned(different(1024)) == expected(different(1024))); }
