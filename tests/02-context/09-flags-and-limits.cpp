// Self-check of 02-context/09-flags-and-limits: judges the learner's raise_limit().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <optional>

std::optional<std::size_t> raise_limit(CUlimit limit, std::size_t bytes);

namespace {

// A driver may give more than it is asked for. This one rounds stacks up to whole KiB.
constexpr std::size_t kStep = 1024;

// It does not know how large printf's buffer is, while a test says so.
bool without_printf = false;

std::size_t limit_now(CUlimit limit) {
  std::size_t value = 0;
  CU_CHECK(cuCtxGetLimit(&value, limit));
  return value;
}

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, std::size_t value) {
  if (Refusal::meets("cuCtxSetLimit")) return kRefused;
  if (without_printf && limit == CU_LIMIT_PRINTF_FIFO_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (limit == CU_LIMIT_STACK_SIZE) value = (value + kStep - 1) / kStep * kStep;
  return DRIVERS(cuCtxSetLimit)(limit, value);
}

CUresult CUDAAPI cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  if (Refusal::meets("cuCtxGetLimit")) return kRefused;
  if (without_printf && limit == CU_LIMIT_PRINTF_FIFO_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  return DRIVERS(cuCtxGetLimit)(value, limit);
}

TEST_CASE("a limit that is too small is raised") {
  cu::Context context;
  raise_limit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20);
  CHECK(limit_now(CU_LIMIT_MALLOC_HEAP_SIZE) >= 32 << 20);
}

TEST_CASE("a limit that is large enough stays as it is") {
  cu::Context context;
  CU_CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 8192));
  const std::size_t before = limit_now(CU_LIMIT_STACK_SIZE);
  CHECK(raise_limit(CU_LIMIT_STACK_SIZE, 2048) == before);
  CHECK(limit_now(CU_LIMIT_STACK_SIZE) == before);
}

TEST_CASE("what is returned is what the driver gave, not what was asked for") {
  cu::Context context;
  const auto value = raise_limit(CU_LIMIT_STACK_SIZE, 5000);
  REQUIRE(value.has_value());
  CHECK(*value == limit_now(CU_LIMIT_STACK_SIZE));
}

TEST_CASE("a limit that this device does not know is no error") {
  cu::Context context;
  CHECK(raise_limit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4) == std::nullopt);
}

TEST_CASE("which limits it knows, the device says itself") {
  cu::Context context;
  std::optional<std::size_t> value = 0;
  without_printf = true;
  CHECK_NOTHROW(value = raise_limit(CU_LIMIT_PRINTF_FIFO_SIZE, 8 << 20));
  without_printf = false;
  CHECK(value == std::nullopt);
}

TEST_CASE("a value that the driver refuses is an error, too") {
  cu::Context context;
  CHECK_THROWS_AS(raise_limit(CU_LIMIT_STACK_SIZE, 1 << 30), cu::Error);
}

TEST_CASE("every other refusal is one") {
  CU_CHECK(cuInit(0));
  CHECK_THROWS_AS(raise_limit(CU_LIMIT_STACK_SIZE, 8192), cu::Error);  // there is no context
}

TEST_CASE("each call is checked, also when the limit is asked for again") {
  const auto raise = [] {
    cu::Context context;
    raise_limit(CU_LIMIT_STACK_SIZE, 8192);
  };
  CHECK(goes_on({"cuCtxGetLimit", "cuCtxSetLimit"}, raise) == "");
}
