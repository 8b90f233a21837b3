// Self-check of 03-memory/16-leaks: judges the learner's leaked().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <functional>
#include <stdexcept>

std::size_t leaked(const std::function<void()>& work);

namespace {

constexpr std::size_t kMiB = 1 << 20;  // sizes below are multiples of what a device hands out

void lose(std::size_t bytes) {
  CUdeviceptr lost;
  CU_THROW(cuMemAlloc(&lost, bytes));
}

}  // namespace

MAY_BE_REFUSED(cuMemGetInfo, (std::size_t * free, std::size_t* total), (free, total))
MAY_BE_REFUSED(cuCtxSynchronize, (), ())

TEST_CASE_METHOD(cu::Context, "work that gives everything back loses nothing") {
  CHECK(leaked([] { cu::Memory memory(32 * kMiB); }) == 0);
  CHECK(leaked([] {}) == 0);
}

TEST_CASE_METHOD(cu::Context, "what is lost is counted") {
  CHECK(leaked([] { lose(32 * kMiB); }) == 32 * kMiB);
  CHECK(leaked([] {
          cu::Memory memory(64 * kMiB);
          lose(32 * kMiB);
          lose(4 * kMiB);
        }) == 36 * kMiB);
}

TEST_CASE_METHOD(cu::Context, "afterwards nothing is missing") {
  leaked([] { lose(32 * kMiB); });
  const std::size_t before = free_bytes();
  for (int i = 0; i < 3; ++i) leaked([] { lose(32 * kMiB); });
  CHECK(free_bytes() == before);
}

TEST_CASE_METHOD(cu::Context, "the caller's context is current again, also after a throw") {
  CHECK(leaked([this] {
          if (current() == handle) throw std::runtime_error("it runs in the caller's context");
        }) == 0);
  CHECK(current() == handle);
  CHECK_THROWS_AS(leaked([] {
                    lose(4 * kMiB);
                    throw std::runtime_error("bad input");
                  }),
                  std::runtime_error);
  CHECK(current() == handle);
}

TEST_CASE_METHOD(cu::Context, "what goes back in stream order has gone back") {
  CHECK(leaked([] {
          CUdeviceptr memory;
          CU_THROW(cuMemAllocAsync(&memory, 64 * kMiB, nullptr));
          CU_THROW(cuMemFreeAsync(memory, nullptr));
        }) == 0);
}

TEST_CASE_METHOD(cu::Context, "each call is checked: what the driver refuses is thrown, and its context goes") {
  CHECK(goes_on({"cuMemGetInfo", "cuCtxSynchronize"}, [] { leaked([] {}); }) == "");
  CHECK(current() == handle);
}
