// Self-check of 02-context/10-two-contexts: judges the learner's belong_together().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory);

namespace {

// Two contexts on one device, with a stream and memory each. B is current.
struct TwoContexts {
  cu::Context a;
  CUdeviceptr in_a = 0, more_in_a = 0, in_b = 0;
  CUstream of_a = nullptr, of_b = nullptr;
  CUcontext b = nullptr;
  TwoContexts() {
    CU_CHECK(cuMemAlloc(&in_a, 4096));
    CU_CHECK(cuMemAlloc(&more_in_a, 4096));
    CU_CHECK(cuStreamCreate(&of_a, 0));
    CU_CHECK(cuCtxCreate(&b, nullptr, 0, a.device));
    CU_CHECK(cuMemAlloc(&in_b, 4096));
    CU_CHECK(cuStreamCreate(&of_b, 0));
  }
  ~TwoContexts() { CU_CHECK(cuCtxDestroy(b)); }
};

}  // namespace

TEST_CASE_METHOD(TwoContexts, "a stream and memory of one context belong together") {
  CHECK(belong_together(of_b, {in_b}));
  CHECK(belong_together(of_a, {in_a, more_in_a}));
  CHECK(belong_together(of_a, {}));
}

TEST_CASE_METHOD(TwoContexts, "two contexts are two, although the device is one") {
  CHECK_FALSE(belong_together(of_a, {in_b}));
  CHECK_FALSE(belong_together(of_b, {in_a}));
}

TEST_CASE_METHOD(TwoContexts, "the stream decides, not what is current") {
  REQUIRE(current() == b);
  CHECK(belong_together(of_a, {in_a}));
  CHECK_FALSE(belong_together(of_a, {in_b}));
  CHECK(current() == b);
}

TEST_CASE_METHOD(TwoContexts, "the null stream is the current context's") {
  CHECK(belong_together(nullptr, {in_b}));
  CHECK_FALSE(belong_together(nullptr, {in_a}));
}

TEST_CASE_METHOD(TwoContexts, "every address counts, the last one, too") {
  CHECK_FALSE(belong_together(of_a, {in_a, more_in_a, in_b}));
  CHECK_FALSE(belong_together(of_a, {in_b, in_a}));
}

TEST_CASE_METHOD(TwoContexts, "an address inside an allocation counts as the allocation, and 0 as nothing") {
  CHECK(belong_together(of_a, {in_a + 100, 0}));
  CHECK_FALSE(belong_together(of_a, {in_b + 100, 0}));
}

TEST_CASE_METHOD(TwoContexts, "an address that nobody owns is an error") {
  int local = 0;
  CHECK_THROWS_AS(belong_together(of_a, {reinterpret_cast<CUdeviceptr>(&local)}), cu::Error);
}

TEST_CASE_METHOD(TwoContexts, "nobody's address is an error behind one that does not fit, too; b stays current") {
  int local = 0;
  CHECK_THROWS_AS(belong_together(of_a, {in_b, reinterpret_cast<CUdeviceptr>(&local)}), cu::Error);
  CHECK(current() == b);
}

TEST_CASE_METHOD(TwoContexts, "without a current context the null stream is nobody's") {
  CUcontext popped;
  std::vector<CUcontext> all;
  while (cuCtxPopCurrent(&popped) == CUDA_SUCCESS) all.push_back(popped);
  CHECK_THROWS_AS(belong_together(nullptr, {}), cu::Error);
  for (auto each = all.rbegin(); each != all.rend(); ++each) CU_CHECK(cuCtxPushCurrent(*each));
}
