// Self-check of 02-context/06-threads: judges the learner's in_worker().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

void in_worker(const std::function<void()>& work);

namespace {

// A context of the caller's, current, and another one below it.
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

TEST_CASE_METHOD(Caller, "the work is done in the caller's context") {
  CUcontext seen = nullptr;
  in_worker([&] { seen = current(); });
  CHECK(seen == mine);
}

TEST_CASE_METHOD(Caller, "the work is done on another thread, and is done when the call returns") {
  std::thread::id seen;
  in_worker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seen = std::this_thread::get_id();
  });
  CHECK(seen != std::thread::id());
  CHECK(seen != std::this_thread::get_id());
}

TEST_CASE_METHOD(Caller, "the caller's stack stays as it is") {
  in_worker([] {});
  CUcontext popped;
  CHECK(current() == mine);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == below);
}

TEST_CASE_METHOD(Caller, "the caller's stack stays as it is when the work throws, too") {
  CHECK_THROWS_AS(in_worker([] { throw std::runtime_error("from the work"); }), std::runtime_error);
  CUcontext popped;
  CHECK(current() == mine);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == below);
}

TEST_CASE_METHOD(Caller, "a caller without a context is told so, and the work is not done") {
  CUcontext popped;
  while (cuCtxPopCurrent(&popped) == CUDA_SUCCESS) {
  }
  bool done = false;
  CHECK_THROWS_AS(in_worker([&] { done = true; }), cu::Error);
  CHECK_FALSE(done);
}

TEST_CASE_METHOD(Caller, "what the work throws arrives at the caller") {
  CHECK_THROWS_AS(in_worker([] { throw std::runtime_error("from the work"); }), std::runtime_error);
}

TEST_CASE_METHOD(Caller, "it arrives as what it is, with all that it carries") {
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
    in_worker([] { throw 42; });  // not every exception is a std::exception
  } catch (int thrown) {
    number = thrown;
  } catch (const std::exception&) {
  }
  CHECK(number == 42);
}

TEST_CASE_METHOD(Caller, "each call is checked: what the driver refuses is thrown to the caller") {
  CHECK(goes_on({"cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent"}, [] { in_worker([] {}); }) == "");
}
