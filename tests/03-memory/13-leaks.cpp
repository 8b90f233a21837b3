// Checks the learner's leaked() (exercise of 03-memory/13-leaks).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

std::size_t leaked(const std::function<void()>& work);

namespace {

constexpr std::size_t kMiB = 1 << 20;  // the sizes below are multiples of the allocation granularity

void leak(std::size_t bytes) {
  CUdeviceptr lost;
  CU_THROW(cuMemAlloc(&lost, bytes));
}

CUcontext callers = nullptr;  // if set, every other context seems to use 64 MiB for itself

void CUDA_CB sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

}  // namespace

// The calls of leaked() are intercepted here.
CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (Refusal::meets("cuMemGetInfo")) return kRefused;
  const CUresult result = DRIVERS(cuMemGetInfo)(free, total);
  if (result == CUDA_SUCCESS && callers != nullptr && current() != callers) *free -= 64 * kMiB;
  return result;
}

MAY_BE_REFUSED(cuCtxSynchronize, (), ())

TEST_CASE_METHOD(cu::Context, "work that frees everything leaks nothing") {
  CHECK(leaked([] { cu::Memory memory(32 * kMiB); }) == 0);
  CHECK(leaked([] {}) == 0);
}

TEST_CASE_METHOD(cu::Context, "leaked bytes are counted") {
  CHECK(leaked([] { leak(32 * kMiB); }) == 32 * kMiB);
  CHECK(leaked([] {
          cu::Memory memory(64 * kMiB);
          leak(32 * kMiB);
          leak(4 * kMiB);
        }) == 36 * kMiB);
}

TEST_CASE_METHOD(cu::Context, "memory that the context itself uses is not counted") {
  callers = handle;
  const std::size_t leaks = leaked([] {});
  callers = nullptr;
  CHECK(leaks == 0);
}

TEST_CASE_METHOD(cu::Context, "afterwards no memory is missing") {
  leaked([] { leak(32 * kMiB); });
  const std::size_t before = free_bytes();
  for (int i = 0; i < 3; ++i) leaked([] { leak(32 * kMiB); });
  CHECK(free_bytes() == before);
}

TEST_CASE_METHOD(cu::Context, "the caller's context is current again, even after an exception") {
  CHECK(leaked([this] {
          if (current() == handle) throw std::runtime_error("it runs in the caller's context");
        }) == 0);
  CHECK(current() == handle);
  CHECK_THROWS_AS(leaked([] {
                    leak(4 * kMiB);
                    throw std::runtime_error("bad input");
                  }),
                  std::runtime_error);
  CHECK(current() == handle);
}

TEST_CASE_METHOD(cu::Context, "whatever the work throws, its context is destroyed, and its leaks with it") {
  leaked([] { leak(32 * kMiB); });
  const std::size_t before = free_bytes();
  CHECK_THROWS_AS(leaked([] {
                    leak(32 * kMiB);
                    throw 42;  // not every exception is a std::exception
                  }),
                  int);
  CHECK(current() == handle);
  CHECK_THROWS_AS(leaked([] {
                    leak(32 * kMiB);
                    throw std::runtime_error("bad input");
                  }),
                  std::runtime_error);
  CHECK(free_bytes() == before);
}

TEST_CASE_METHOD(cu::Context, "memory freed in a stream that the work created does not count as leaked") {
  const std::size_t leaks = leaked([] {
    CUstream own;
    CUdeviceptr memory;
    CU_THROW(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    CU_THROW(cuMemAllocAsync(&memory, 64 * kMiB, own));
    CU_THROW(cuLaunchHostFunc(own, sleep_a_while, nullptr));
    CU_THROW(cuMemFreeAsync(memory, own));
    CU_THROW(cuStreamDestroy(own));
  });
  CHECK(leaks < 32 * kMiB);  // not exactly 0: the driver may keep memory that it has allocated for the stream
}

TEST_CASE_METHOD(cu::Context, "memory freed in stream order does not count as leaked") {
  CHECK(leaked([] {
          CUdeviceptr memory;
          CU_THROW(cuMemAllocAsync(&memory, 64 * kMiB, nullptr));
          CU_THROW(cuMemFreeAsync(memory, nullptr));
        }) == 0);
}

TEST_CASE_METHOD(cu::Context, "each call is checked: a driver error is thrown, and the context is destroyed") {
  CHECK(ignored_failure({"cuMemGetInfo", "cuCtxSynchronize"}, [] { leaked([] {}); }) == "");
  CHECK(current() == handle);
}
