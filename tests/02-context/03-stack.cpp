// Self-check of 02-context/03-stack: judges the learner's run_in().
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <functional>
#include <stdexcept>

void run_in(CUcontext context, const std::function<void()>& work);

namespace {

CUcontext current() {
  CUcontext context = nullptr;
  CU_CHECK(cuCtxGetCurrent(&context));
  return context;
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
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) continue;
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

TEST_CASE_METHOD(TwoContexts, "the stack is restored when the work throws") {
  CU_CHECK(cuCtxPushCurrent(a));
  CHECK_THROWS_AS(run_in(b, [] { throw std::runtime_error("from the work"); }), std::runtime_error);
  CHECK(current() == a);
}
