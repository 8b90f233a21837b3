// Self-check of 04-kernels/09-reduction: judges the learner's kernel maximum().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"

#include <climits>
#include <vector>

namespace {

// The largest of these numbers, as the kernel says. Past the last of them lie numbers that are larger.
int maximum(std::vector<int> numbers, int blocks, int threads) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  unsigned long long n = numbers.size();
  numbers.resize(n + 64, INT_MAX);
  const int least = INT_MIN;
  cu::Memory in(numbers.size() * sizeof(int)), largest(sizeof(int));
  CU_CHECK(cuMemcpyHtoD(in.address, numbers.data(), numbers.size() * sizeof(int)));
  CU_CHECK(cuMemcpyHtoD(largest.address, &least, sizeof least));
  void* arguments[] = {&in.address, &largest.address, &n};
  CU_CHECK(cuLaunchKernel(module.function("maximum"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  int found;
  CU_CHECK(cuMemcpyDtoH(&found, largest.address, sizeof found));
  return found;
}

// To what only some of a block's threads have come who have to come to it together, in a sentence.
std::string parted(unsigned long long n, int blocks, int threads) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  cu::Memory in(n * sizeof(int)), largest(sizeof(int));
  CU_CHECK(cuMemsetD32(in.address, 1, n));
  CU_CHECK(cuMemsetD32(largest.address, 0, 1));
  void* arguments[] = {&in.address, &largest.address, &n};
  CU_CHECK(cuLaunchKernel(counted.function("maximum"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  return counted.parted(threads);
}

// -1000 everywhere, and -5 in one place.
std::vector<int> one_peak(int count, int place) {
  std::vector<int> numbers(count, -1000);
  numbers[place] = -5;
  return numbers;
}

}  // namespace

TEST_CASE("one warp: the largest is found wherever it lies") {
  for (const int place : {0, 1, 15, 16, 31}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(32, place), 1, 32) == -5);
  }
}

TEST_CASE("one block: the largest is found wherever it lies") {
  for (const int place : {0, 31, 32, 100, 255}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(256, place), 1, 256) == -5);
  }
}

TEST_CASE("a block whose size is no power of two: the largest is found wherever it lies") {
  for (int place = 0; place < 96; ++place) {
    CAPTURE(place);
    CHECK(maximum(one_peak(96, place), 1, 96) == -5);
  }
}

TEST_CASE("several blocks: the largest is found wherever it lies") {
  for (const int place : {0, 300, 1023}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(1024, place), 4, 256) == -5);
  }
}

TEST_CASE("more numbers than threads") { CHECK(maximum(one_peak(10000, 9999), 2, 64) == -5); }

TEST_CASE("more threads than numbers: what lies past the last one does not count") {
  CHECK(maximum(one_peak(1000, 7), 8, 256) == -5);
}

TEST_CASE("no numbers: nothing changes") { CHECK(maximum({}, 2, 64) == INT_MIN); }

TEST_CASE("a block of 1024 threads: the largest is found wherever it lies") {
  for (const int place : {0, 256, 511, 1023}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(1024, place), 1, 1024) == -5);
  }
}

// The result may be right by luck; another GPU may deadlock.
TEST_CASE("a barrier is reached by all threads of the block, a shuffle by all lanes of its mask") {
  CHECK(parted(1000, 1, 256) == "");
  CHECK(parted(50, 1, 96) == "");
  CHECK(parted(1000, 3, 128) == "");
}
