// Self-check of 04-kernels/13-scan-and-histogram: judges the learner's kernel histogram().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/counted.hpp"

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Counts = std::vector<unsigned>;

// Adds a histogram of these bytes to the counts, after something else has lain in shared memory.
Counts histogram(const std::vector<unsigned char>& bytes, int blocks, int threads, Counts counts = Counts(256)) {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx")), check(cu::image("check.ptx"));
  unsigned long long n = bytes.size();
  cu::Memory in(n + 1), bins(256 * sizeof(unsigned)), scratch(2048 * sizeof(int));
  CU_CHECK(cuMemcpyHtoD(in.address, bytes.data(), n));
  CU_CHECK(cuMemcpyHtoD(bins.address, counts.data(), 256 * sizeof(unsigned)));
  if (std::getenv("CUDASIM_CHECK") == nullptr) {  // its own check finds reads of unwritten memory
    void* littering[] = {&scratch.address};
    CU_CHECK(cuLaunchKernel(check.function("litter"), 2048, 1, 1, 256, 1, 1, 32768, nullptr, littering, nullptr));
  }
  void* arguments[] = {&in.address, &bins.address, &n};
  CU_CHECK(cuLaunchKernel(module.function("histogram"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(counts.data(), bins.address, 256 * sizeof(unsigned)));
  return counts;
}

// Every value, some more often than others.
std::vector<unsigned char> some_bytes(std::size_t n) {
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * i / 7 + i);
  return bytes;
}

Counts expected(const std::vector<unsigned char>& bytes) {
  Counts counts(256);
  for (const unsigned char byte : bytes) ++counts[byte];
  return counts;
}

// What is wrong with the counts, in a sentence for 256 bins; nothing if all are right.
std::string complaint(const Counts& found, const Counts& right) {
  int wrong = 0;
  std::string first;
  for (int value = 0; value < 256; ++value) {
    if (found[value] == right[value] || wrong++ > 0) continue;
    first = "bin " + std::to_string(value) + " holds " + std::to_string(found[value]) + " instead of " +
            std::to_string(right[value]);
  }
  return wrong < 2 ? first : first + ", and " + std::to_string(wrong - 1) + " more of the 256 bins are wrong";
}

// The same for a histogram of `n` bytes that is added to empty bins.
std::string complaint(std::size_t n, int blocks, int threads) {
  return complaint(histogram(some_bytes(n), blocks, threads), expected(some_bytes(n)));
}

int shared_bytes() {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("histogram")));
  return bytes;
}

struct Seen {
  std::size_t added;   // to the common bins, by atomic operations
  std::string parted;  // to which barrier some did not come
};

// What the kernel's threads do on their way to the counts of so many bytes.
Seen watched(unsigned long long n, int blocks, int threads) {
  cu::Context context;
  const Counted counted(cu::image("exercise.ptx"));
  cu::Memory in(n), bins(256 * sizeof(unsigned));
  CU_CHECK(cuMemsetD8(in.address, 7, n));
  CU_CHECK(cuMemsetD32(bins.address, 0, 256));
  void* arguments[] = {&in.address, &bins.address, &n};
  CU_CHECK(cuLaunchKernel(counted.function("histogram"), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
  const std::vector<std::size_t> changed = counted.changed();
  return {std::accumulate(changed.begin(), changed.end(), std::size_t{0}), counted.parted(threads)};
}

}  // namespace

TEST_CASE("one block of 256 threads") { CHECK(complaint(5000, 1, 256) == ""); }

TEST_CASE("several blocks add to the same bins") { CHECK(complaint(20000, 5, 256) == ""); }

TEST_CASE("a block of 64 threads has 256 bins, too") { CHECK(complaint(5000, 2, 64) == ""); }

TEST_CASE("a block of 1024 threads has no more than 256 bins") { CHECK(complaint(5000, 2, 1024) == ""); }

TEST_CASE("what is in the bins before stays") {
  Counts right = expected(some_bytes(1000));
  for (unsigned& count : right) count += 3;
  CHECK(complaint(histogram(some_bytes(1000), 2, 128, Counts(256, 3)), right) == "");
}

TEST_CASE("no bytes: nothing is counted") { CHECK(complaint(0, 2, 128) == ""); }

TEST_CASE("the block's bins are in shared memory") { CHECK(shared_bytes() >= 1024); }

TEST_CASE("a block whose size is not a power of two has 256 bins, too") {
  for (const int threads : {1, 96, 200, 300}) {
    CAPTURE(threads);
    CHECK(complaint(5000, 2, threads) == "");
  }
}

TEST_CASE("a block adds to a common bin once, however many bytes there are") {
  const std::size_t added = watched(5000, 2, 128).added;
  INFO("5000 bytes, 2 blocks of 256 bins each: " << added << " times, something was added to the common bins");
  CHECK(added <= 2 * 256);
}

TEST_CASE("a barrier is reached by all threads of the block") {
  CHECK(watched(5000, 2, 300).parted == "");
  CHECK(watched(100, 2, 256).parted == "");
}
