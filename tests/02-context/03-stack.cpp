// Self-check of 02-context/03-stack: judges the learner's run_in().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <functional>
#include <stdexcept>
#include <vector>

void run_in(CUcontext context, const std::function<void()>& work);

namespace {

using Stack = std::vector<CUcontext>;

// Takes this thread's stack apart, from the top.
Stack taken_apart() {
  Stack from_top;
  CUcontext top;
  while (cuCtxPopCurrent(&top) == CUDA_SUCCESS) from_top.push_back(top);
  return from_top;
}

// Two contexts, and a stack that holds neither.
struct TwoContexts {
  CUcontext a, b;
  TwoContexts() {
    CUdevice device;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    for (CUcontext* context : {&a, &b}) {
      CU_CHECK(cuCtxCreate(context, nullptr, 0, device));
      CU_CHECK(cuCtxPopCurrent(context));
    }
  }
  ~TwoContexts() {
    taken_apart();
    cuCtxDestroy(a);
    cuCtxDestroy(b);
  }
};

}  // namespace

TEST_CASE_METHOD(TwoContexts, "the work runs in the context it was given") {
  CUcontext seen = nullptr;
  run_in(b, [&] { seen = current(); });
  CHECK(seen == b);
}

TEST_CASE_METHOD(TwoContexts, "the caller's context is current again") {
  CU_CHECK(cuCtxPushCurrent(a));
  run_in(b, [] {});
  CHECK(current() == a);
}

TEST_CASE_METHOD(TwoContexts, "a caller without a context has none afterwards") {
  run_in(b, [] {});
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(TwoContexts, "what lies below the caller's context is there, too, and nothing else") {
  for (CUcontext context : {b, a}) CU_CHECK(cuCtxPushCurrent(context));
  run_in(b, [] {});
  CHECK(taken_apart() == Stack{a, b});
}

TEST_CASE_METHOD(TwoContexts, "a context that the driver refuses is reported, and the work is not done") {
  bool done = false;
  CHECK_THROWS_AS(run_in(nullptr, [&] { done = true; }), cu::Error);
  CHECK_FALSE(done);
}

TEST_CASE_METHOD(TwoContexts, "what was not pushed is not popped") {
  for (CUcontext context : {b, a}) CU_CHECK(cuCtxPushCurrent(context));
  CHECK_THROWS_AS(run_in(nullptr, [] {}), cu::Error);
  CHECK(taken_apart() == Stack{a, b});
}

TEST_CASE_METHOD(TwoContexts, "the stack is restored when the work throws") {
  CU_CHECK(cuCtxPushCurrent(a));
  CHECK_THROWS_AS(run_in(b, [] { throw std::runtime_error("from the work"); }), std::runtime_error);
  CHECK(taken_apart() == Stack{a});
}

TEST_CASE_METHOD(TwoContexts, "whatever the work throws, the stack is as it was") {
  CU_CHECK(cuCtxPushCurrent(a));
  CHECK_THROWS_AS(run_in(b, [] { throw 42; }), int);
  CHECK(taken_apart() == Stack{a});
}
