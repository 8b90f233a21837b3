// Checks the learner's kernel block_sums() (exercise of 04-kernels/07-shared-memory).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/numbers.hpp"

#include <cstdlib>
#include <vector>

namespace {

struct Sums {
  std::vector<int> expected, got;

  // Describes the first wrong sum, or returns kAllRight.
  std::string verdict() const {
    return judged("sums", got.data(), static_cast<int>(got.size()), [this](int i) { return expected[i]; });
  }
};

// Runs block_sums on numbers that differ, after another kernel has left data in shared memory.
Sums sums_of(int blocks, int threads) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx")), check(cu::image("check.ptx"));
  Sums sums{std::vector<int>(blocks), std::vector<int>(blocks)};
  std::vector<int> numbers(blocks * threads);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int>(i * 7919 % 1009) + 1;
    sums.expected[i / threads] += numbers[i];
  }
  cu::Memory in(numbers.size() * sizeof(int)), out(2048 * sizeof(int));
  CU_CHECK(cuMemcpyHtoD(in.address, numbers.data(), numbers.size() * sizeof(int)));

  if (std::getenv("CUDASIM_CHECK") == nullptr) {  // the simulator's checks find reads of unwritten memory
    void* littering[] = {&out.address};
    CU_CHECK(cuLaunchKernel(check.function("litter"), 2048, 1, 1, 256, 1, 1, 32768, nullptr, littering, nullptr));
  }
  void* arguments[] = {&in.address, &out.address};
  CU_CHECK(cuLaunchKernel(module.function("block_sums"), blocks, 1, 1, threads, 1, 1, threads * sizeof(int), nullptr,
                          arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(sums.got.data(), out.address, blocks * sizeof(int)));
  return sums;
}

// The size of the kernel's static shared memory, which does not depend on the launch.
int static_bytes() {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("block_sums")));
  return bytes;
}

struct Seen {
  std::vector<std::size_t> loaded_by_warp;  // by each warp: numbers from global memory
  // Describes a barrier or warp-level instruction that only some threads have reached, or "".
  std::string divergence;
};

// What the threads of one block execute.
Seen watched(int threads) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  cu::Memory in(threads * sizeof(int)), sums(sizeof(int));
  CU_CHECK(cuMemsetD32(in.address, 1, threads));
  void* arguments[] = {&in.address, &sums.address};
  CU_CHECK(cuLaunchKernel(counted.function("block_sums"), 1, 1, 1, threads, 1, 1, threads * sizeof(int), nullptr,
                          arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  return {counted.loaded_by_warp(), counted.divergence(threads)};
}

}  // namespace

TEST_CASE("a block of one thread") {
  const Sums sums = sums_of(1, 1);
  CHECK(sums.verdict() == kAllRight);
}

TEST_CASE("a block of one warp") {
  const Sums sums = sums_of(1, 32);
  CHECK(sums.verdict() == kAllRight);
}

TEST_CASE("a block of 256 threads") {
  const Sums sums = sums_of(1, 256);
  CHECK(sums.verdict() == kAllRight);
}

TEST_CASE("a block whose size is not a power of two") {
  const Sums sums = sums_of(1, 96);
  CHECK(sums.verdict() == kAllRight);
}

TEST_CASE("several blocks: each has its own elements and its own sum") {
  const Sums sums = sums_of(3, 64);
  CHECK(sums.verdict() == kAllRight);
}

TEST_CASE("many blocks of 1024 threads") {
  const Sums sums = sums_of(256, 1024);
  CHECK(sums.verdict() == kAllRight);
}

// The launch's dynamic memory follows a static array that is too short, so an overrun would go unnoticed. (An array of
// up to 32 numbers is allowed: it has one element per warp, not one per thread.)
TEST_CASE("a static array, if any, has room for 1024 threads") {
  const int bytes = static_bytes();
  INFO("The kernel has " << bytes << " bytes of static shared memory, whatever the block size");
  CHECK((bytes <= 32 * 4 || bytes >= 1024 * 4));
}

// The result may be right by luck; another GPU may deadlock.
TEST_CASE("a barrier is reached by all threads of the block, a shuffle by all lanes of its mask") {
  for (const int threads : {33, 96, 256}) {
    CAPTURE(threads);
    CHECK(watched(threads).divergence == "");
  }
}

TEST_CASE("each warp loads its own elements, and no others") {
  std::vector<std::size_t> numbers(32);
  numbers[0] = numbers[1] = numbers[2] = 32;
  CHECK(watched(96).loaded_by_warp == numbers);
}
