// Self-check of 03-memory/15-leaks: judges the learner's leaked().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

std::size_t leaked(const std::function<void()>& work);

namespace {

constexpr std::size_t kMiB = 1 << 20;  // sizes below are multiples of what a device hands out

void lose(std::size_t bytes) {
  CUdeviceptr lost;
  CU_THROW(cuMemAlloc(&lost, bytes));
}

CUcontext callers = nullptr;  // while a test says so, every other context is made out to take 64 MiB for itself

void CUDA_CB sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (Refusal::meets("cuMemGetInfo")) return kRefused;
  const CUresult answer = DRIVERS(cuMemGetInfo)(free, total);
  if (answer == CUDA_SUCCESS && callers != nullptr && current() != callers) *free -= 64 * kMiB;
  return answer;
}

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

TEST_CASE_METHOD(cu::Context, "what its own context takes is not lost") {
  callers = handle;
  const std::size_t lost = leaked([] {});
  callers = nullptr;
  CHECK(lost == 0);
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

TEST_CASE_METHOD(cu::Context, "whatever the work throws, its context goes, and what it lost goes with it") {
  leaked([] { lose(32 * kMiB); });
  const std::size_t before = free_bytes();
  CHECK_THROWS_AS(leaked([] {
                    lose(32 * kMiB);
                    throw 42;  // not every exception is a std::exception
                  }),
                  int);
  CHECK(current() == handle);
  CHECK_THROWS_AS(leaked([] {
                    lose(32 * kMiB);
                    throw std::runtime_error("bad input");
                  }),
                  std::runtime_error);
  CHECK(free_bytes() == before);
}

TEST_CASE_METHOD(cu::Context, "what goes back in a stream of the work's own has gone back, too") {
  const std::size_t lost = leaked([] {
    CUstream own;
    CUdeviceptr memory;
    CU_THROW(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    CU_THROW(cuMemAllocAsync(&memory, 64 * kMiB, own));
    CU_THROW(cuLaunchHostFunc(own, sleep_a_while, nullptr));
    CU_THROW(cuMemFreeAsync(memory, own));
    CU_THROW(cuStreamDestroy(own));
  });
  CHECK(lost < 32 * kMiB);  // not to the byte: the driver may keep what it has made for the stream
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
