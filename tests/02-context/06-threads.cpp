// Checks the learner's in_worker() (exercise of 02-context/06-threads).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

void in_worker(const std::function<void()>& work);

namespace {

// The caller's stack: `mine` is current, and `below` is the entry under it.
struct Caller {
  CUcontext below, mine;
  Caller() {
    CUdevice device;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuCtxCreate(&below, nullptr, 0, device));
    CU_CHECK(cuCtxCreate(&mine, nullptr, 0, device));
  }
  ~Caller() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
    cuCtxDestroy(mine);
    cuCtxDestroy(below);
  }
};

}  // namespace

MAY_BE_REFUSED(cuCtxGetCurrent, (CUcontext * context), (context))
MAY_BE_REFUSED(cuCtxSetCurrent, (CUcontext context), (context))
MAY_BE_REFUSED(cuCtxPushCurrent, (CUcontext context), (context))

TEST_CASE_METHOD(Caller, "the work runs in the caller's context") {
  CUcontext seen = nullptr;
  in_worker([&] { seen = current(); });
  CHECK(seen == mine);
}

TEST_CASE_METHOD(Caller, "the work runs on another thread and has finished when in_worker returns") {
  std::thread::id seen;
  in_worker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seen = std::this_thread::get_id();
  });
  CHECK(seen != std::thread::id());
  CHECK(seen != std::this_thread::get_id());
}

TEST_CASE_METHOD(Caller, "the caller's stack does not change") {
  in_worker([] {});
  CUcontext popped;
  CHECK(current() == mine);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == below);
}

TEST_CASE_METHOD(Caller, "the caller's stack does not change when the work throws") {
  CHECK_THROWS_AS(in_worker([] { throw std::runtime_error("from the work"); }), std::runtime_error);
  CUcontext popped;
  CHECK(current() == mine);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == below);
}

TEST_CASE_METHOD(Caller, "a caller without a context gets an error, and the work does not run") {
  CUcontext popped;
  while (cuCtxPopCurrent(&popped) == CUDA_SUCCESS) {
  }
  bool done = false;
  CHECK_THROWS_AS(in_worker([&] { done = true; }), cu::Error);
  CHECK_FALSE(done);
}

TEST_CASE_METHOD(Caller, "an exception from the work reaches the caller") {
  CHECK_THROWS_AS(in_worker([] { throw std::runtime_error("from the work"); }), std::runtime_error);
}

TEST_CASE_METHOD(Caller, "the exception keeps its type and its contents") {
  CUresult code = CUDA_SUCCESS;
  int number = 0;
  try {
    in_worker([] { CU_THROW(CUDA_ERROR_NOT_FOUND); });
  } catch (const cu::Error& error) {
    code = error.code();
  } catch (const std::exception&) {
  }
  CHECK(code == CUDA_ERROR_NOT_FOUND);
  try {
    in_worker([] { throw 42; });  // an exception need not be derived from std::exception
  } catch (int thrown) {
    number = thrown;
  } catch (const std::exception&) {
  }
  CHECK(number == 42);
}

TEST_CASE_METHOD(Caller, "every driver error is thrown to the caller") {
  CHECK(ignored_failure({"cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent"}, [] { in_worker([] {}); }) == "");
}
