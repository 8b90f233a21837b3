// Self-check of 04-kernels/12-scan-and-histogram: judges the learner's kernel histogram().
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

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
  void* littering[] = {&scratch.address};
  CU_CHECK(cuLaunchKernel(check.function("litter"), 2048, 1, 1, 256, 1, 1, 32768, nullptr, littering, nullptr));
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

int shared_bytes() {
  cu::Context context;
  cu::Module module(cu::image("exercise.ptx"));
  int bytes;
  CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("histogram")));
  return bytes;
}

}  // namespace

TEST_CASE("one block of 256 threads") { CHECK(histogram(some_bytes(5000), 1, 256) == expected(some_bytes(5000))); }

TEST_CASE("several blocks add to the same bins") {
  CHECK(histogram(some_bytes(20000), 5, 256) == expected(some_bytes(20000)));
}

TEST_CASE("a block of 64 threads has 256 bins, too") {
  CHECK(histogram(some_bytes(5000), 2, 64) == expected(some_bytes(5000)));
}

TEST_CASE("a block of 1024 threads has no more than 256 bins") {
  CHECK(histogram(some_bytes(5000), 2, 1024) == expected(some_bytes(5000)));
}

TEST_CASE("what is in the bins before stays") {
  Counts counts = expected(some_bytes(1000));
  for (unsigned& count : counts) count += 3;
  CHECK(histogram(some_bytes(1000), 2, 128, Counts(256, 3)) == counts);
}

TEST_CASE("no bytes: nothing is counted") { CHECK(histogram({}, 2, 128) == Counts(256)); }

TEST_CASE("the block's bins are in shared memory") { CHECK(shared_bytes() >= 1024); }

TEST_CASE("a block whose size is no power of two has 256 bins, too") {
  for (const int threads : {1, 96, 200, 300}) {
    CAPTURE(threads);
    CHECK(histogram(some_bytes(5000), 2, threads) == expected(some_bytes(5000)));
  }
}
