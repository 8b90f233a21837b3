// Checks the learner's raise_limit() (exercise of 02-context/08-flags-and-limits).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes);

namespace {

// A driver may grant more than was requested. Here, stacks are rounded up to whole KiB.
constexpr std::size_t kStep = 1024;

// Limits that the simulated device does not support. Real devices of compute capability 9.0 and later do not support
// the first one.
bool without_printf = false;
bool unsupported(CUlimit limit) {
  return limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || (without_printf && limit == CU_LIMIT_PRINTF_FIFO_SIZE);
}

std::size_t limit_now(CUlimit limit) {
  std::size_t value = 0;
  CU_CHECK(cuCtxGetLimit(&value, limit));
  return value;
}

}  // namespace

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, std::size_t value) {
  if (Refusal::meets("cuCtxSetLimit")) return kRefused;
  if (unsupported(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (limit == CU_LIMIT_STACK_SIZE) value = (value + kStep - 1) / kStep * kStep;
  return DRIVERS(cuCtxSetLimit)(limit, value);
}

CUresult CUDAAPI cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  if (Refusal::meets("cuCtxGetLimit")) return kRefused;
  if (unsupported(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  return DRIVERS(cuCtxGetLimit)(value, limit);
}

TEST_CASE("a limit that is too small is raised") {
  cu::Context context;
  raise_limit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20);
  CHECK(limit_now(CU_LIMIT_MALLOC_HEAP_SIZE) >= 32 << 20);
}

TEST_CASE("a limit that is large enough does not change") {
  cu::Context context;
  CU_CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 8192));
  const std::size_t before = limit_now(CU_LIMIT_STACK_SIZE);
  CHECK(raise_limit(CU_LIMIT_STACK_SIZE, 2048) == before);
  CHECK(limit_now(CU_LIMIT_STACK_SIZE) == before);
}

TEST_CASE("the result is the driver's value, not the requested one") {
  cu::Context context;
  const auto value = raise_limit(CU_LIMIT_STACK_SIZE, 5000);
  REQUIRE(value.has_value());
  CHECK(*value == limit_now(CU_LIMIT_STACK_SIZE));
}

TEST_CASE("a limit that the device does not support is not an error") {
  cu::Context context;
  CHECK(raise_limit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4) == std::nullopt);
}

TEST_CASE("the driver decides which limits are supported") {
  cu::Context context;
  std::optional<std::size_t> value = 0;
  without_printf = true;
  CHECK_NOTHROW(value = raise_limit(CU_LIMIT_PRINTF_FIFO_SIZE, 8 << 20));
  without_printf = false;
  CHECK(value == std::nullopt);
}

TEST_CASE("a value that the driver rejects is an error") {
  cu::Context context;
  CHECK_THROWS_AS(raise_limit(CU_LIMIT_STACK_SIZE, 1 << 30), cu::Error);
}

TEST_CASE("a missing context is an error") {
  CU_CHECK(cuInit(0));
  CHECK_THROWS_AS(raise_limit(CU_LIMIT_STACK_SIZE, 8192), cu::Error);  // no context is current
}

TEST_CASE("every driver error is thrown, including that of the second query") {
  const auto raise = [] {
    cu::Context context;
    raise_limit(CU_LIMIT_STACK_SIZE, 8192);
  };
  CHECK(ignored_failure({"cuCtxGetLimit", "cuCtxSetLimit"}, raise) == "");
}
