// Checks the learner's swap_halves() (exercise of 03-memory/01-alloc-copy-free).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <numeric>
#include <vector>

std::vector<float> swap_halves(const std::vector<float>& numbers);

MAY_BE_REFUSED(cuMemAlloc, (CUdeviceptr * address, std::size_t bytes), (address, bytes))
MAY_BE_REFUSED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyDtoH, (void* to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))
MAY_BE_REFUSED(cuMemcpyDtoHAsync, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))
MAY_BE_REFUSED(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
               (to, from, bytes, stream))

TEST_CASE_METHOD(cu::Context, "the halves of four numbers are swapped") {
  CHECK(swap_halves({1, 2, 3, 4}) == std::vector<float>{3, 4, 1, 2});
}

TEST_CASE_METHOD(cu::Context, "the halves of a million numbers are swapped") {
  std::vector<float> numbers(1 << 20), expected(1 << 20);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  std::iota(expected.begin(), expected.begin() + (1 << 19), float(1 << 19));
  std::iota(expected.begin() + (1 << 19), expected.end(), 0.0f);
  CHECK((swap_halves(numbers) == expected));  // in parentheses, so that a failure does not print a million numbers
}

TEST_CASE_METHOD(cu::Context, "for an empty vector, the result is empty") { CHECK(swap_halves({}).empty()); }

TEST_CASE("without a context, the function throws") {
  CU_CHECK(cuInit(0));
  CHECK_THROWS_AS(swap_halves({1, 2, 3, 4}), cu::Error);
}

// Enough for a leak to show in cuMemGetInfo. The last case below runs the solution 33 times, so more would take
// seconds.
constexpr std::size_t kMany = 4 << 20;

TEST_CASE_METHOD(cu::Context, "the device memory is freed") {
  const std::vector<float> numbers(kMany);
  swap_halves(numbers);  // the driver allocates its own buffers during the first copies
  const std::size_t before = free_bytes();
  swap_halves(numbers);
  CHECK(free_bytes() == before);
}

TEST_CASE_METHOD(cu::Context, "if a driver call fails, the function throws and frees its memory") {
  const std::vector<float> numbers(kMany);
  swap_halves(numbers);
  const std::size_t before = free_bytes();
  CHECK(ignored_failure({"cuMemAlloc", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemcpy", "cuMemcpyHtoDAsync",
                         "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync"},
                        [&] { swap_halves(numbers); }) == "");
  CHECK(free_bytes() == before);
}
