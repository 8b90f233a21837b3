// Checks the learner's kernel maximum() (exercise of 04-kernels/20-reduction).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"
#include "tests/simulated.hpp"

#include <climits>
#include <numeric>
#include <vector>

namespace {

// Returns what the kernel finds. The elements past the end are larger than all others.
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

// What the kernel executes for n elements, all of them 1.
struct Executed {
  std::size_t loaded, atomics;
  // Describes a barrier or warp-level instruction that only some threads have reached, or "".
  std::string divergence;
};
Executed executed(unsigned long long n, int blocks, int threads) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  cu::Memory in(n * sizeof(int)), largest(sizeof(int));
  CU_CHECK(cuMemsetD32(in.address, 1, n));
  CU_CHECK(cuMemsetD32(largest.address, 0, 1));
  void* arguments[] = {&in.address, &largest.address, &n};
  CU_CHECK(cuLaunchKernel(counted.function("maximum"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  const std::vector<std::size_t> changed = counted.changed();
  return {counted.work().loaded, std::accumulate(changed.begin(), changed.end(), std::size_t{0}),
          counted.divergence(threads)};
}

// -1000 everywhere except for a -5 in one place.
std::vector<int> one_peak(int count, int place) {
  std::vector<int> numbers(count, -1000);
  numbers[place] = -5;
  return numbers;
}

}  // namespace

TEST_CASE("one warp: the maximum is found at any position") {
  for (const int place : {0, 1, 15, 16, 31}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(32, place), 1, 32) == -5);
  }
}

TEST_CASE("one block: the maximum is found at any position") {
  for (const int place : {0, 31, 32, 100, 255}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(256, place), 1, 256) == -5);
  }
}

TEST_CASE("a block whose size is not a power of two: the maximum is found at any position") {
  for (int place = 0; place < 96; ++place) {
    CAPTURE(place);
    CHECK(maximum(one_peak(96, place), 1, 96) == -5);
  }
}

TEST_CASE("several blocks: the maximum is found at any position") {
  for (const int place : {0, 300, 1023}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(1024, place), 4, 256) == -5);
  }
}

TEST_CASE("more elements than threads") { CHECK(maximum(one_peak(10000, 9999), 2, 64) == -5); }

TEST_CASE("more threads than elements: memory past the last element is ignored") {
  CHECK(maximum(one_peak(1000, 7), 8, 256) == -5);
}

TEST_CASE("no elements: nothing changes") { CHECK(maximum({}, 2, 64) == INT_MIN); }

TEST_CASE("a block of 1024 threads: the maximum is found at any position") {
  for (const int place : {0, 256, 511, 1023}) {
    CAPTURE(place);
    CHECK(maximum(one_peak(1024, place), 1, 1024) == -5);
  }
}

// The result may be right by luck; another GPU may deadlock.
TEST_CASE("a barrier is reached by all threads of the block, a shuffle by all lanes of its mask") {
  CHECK(executed(1000, 1, 256).divergence == "");
  CHECK(executed(50, 1, 96).divergence == "");
  CHECK(executed(1000, 3, 128).divergence == "");
}

TEST_CASE("every element is loaded once") {
  const Executed done = executed(10000, 4, 256);
  INFO("10000 elements: " << done.loaded << " were loaded from global memory");
  CHECK(done.loaded == 10000);
}

TEST_CASE("at most one atomic operation per block") {
  const Executed done = executed(10000, 4, 256);
  INFO("4 blocks of 256 threads: " << done.atomics << " atomic operations");
  CHECK(done.atomics <= 4);
}

TEST_CASE("on a GPU, the kernel reaches 70% of the peak bandwidth") {
  cu::Context context;
  if (is_simulated(context.device)) SKIP_TEST("the simulator does not model the speed of a GPU");
  const double peak = cu::memory_limit(context.device);
  if (peak == 0) SKIP_TEST("the driver does not report the memory's clock");
  cu::Module module(cu::image("exercise.ptx"));
  const CUfunction kernel = module.function("maximum");
  unsigned long long n = 1ull << 28;
  cu::Memory in(n * sizeof(int)), largest(sizeof(int));
  CU_CHECK(cuMemsetD32(in.address, 1, n));
  int fit, multiprocessors;
  CU_CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 256, 0));
  CU_CHECK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context.device));
  void* arguments[] = {&in.address, &largest.address, &n};
  const double seconds = cu::median_device_seconds([&] {
    CU_CHECK(cuLaunchKernel(kernel, fit * multiprocessors, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  });
  const double share = n * sizeof(int) / seconds / 1e9 / peak;
  INFO("The kernel reaches " << share << " of " << peak << " GB/s. How many loads does each thread have in flight?");
  CHECK(share >= 0.7);
}
