// Checks the learner's belong_together() (exercise of 02-context/09-two-contexts).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

bool belong_together(CUstream stream, const std::vector<CUdeviceptr>& memory);

namespace {

// Two contexts on one device, each with a stream and memory, and memory from the device's pool. B is current.
struct TwoContexts {
  cu::Context a;
  CUdeviceptr in_a = 0, more_in_a = 0, in_b = 0;
  CUstream of_a = nullptr, of_b = nullptr;
  CUcontext b = nullptr;
  CUdeviceptr in_pool = 0;  // belongs to no context
  TwoContexts() {
    CU_CHECK(cuMemAlloc(&in_a, 4096));
    CU_CHECK(cuMemAlloc(&more_in_a, 4096));
    CU_CHECK(cuStreamCreate(&of_a, 0));
    CU_CHECK(cuCtxCreate(&b, nullptr, 0, a.device));
    CU_CHECK(cuMemAlloc(&in_b, 4096));
    CU_CHECK(cuStreamCreate(&of_b, 0));
    CU_CHECK(cuMemAllocAsync(&in_pool, 4096, nullptr));
    CU_CHECK(cuCtxSynchronize());
  }
  ~TwoContexts() {
    CU_CHECK(cuMemFreeAsync(in_pool, nullptr));
    CU_CHECK(cuCtxSynchronize());
    CU_CHECK(cuCtxDestroy(b));
  }
};

}  // namespace

TEST_CASE_METHOD(TwoContexts, "a stream and memory of the same context belong together") {
  CHECK(belong_together(of_b, {in_b}));
  CHECK(belong_together(of_a, {in_a, more_in_a}));
  CHECK(belong_together(of_a, {}));
}

TEST_CASE_METHOD(TwoContexts, "memory of another context on the same device does not belong to the stream") {
  CHECK_FALSE(belong_together(of_a, {in_b}));
  CHECK_FALSE(belong_together(of_b, {in_a}));
}

TEST_CASE_METHOD(TwoContexts, "the stream's context decides, not the current context") {
  REQUIRE(current() == b);
  CHECK(belong_together(of_a, {in_a}));
  CHECK_FALSE(belong_together(of_a, {in_b}));
  CHECK(current() == b);
}

TEST_CASE_METHOD(TwoContexts, "the null stream belongs to the current context") {
  CHECK(belong_together(nullptr, {in_b}));
  CHECK_FALSE(belong_together(nullptr, {in_a}));
}

TEST_CASE_METHOD(TwoContexts, "every address counts, not only the last one") {
  CHECK_FALSE(belong_together(of_a, {in_a, more_in_a, in_b}));
  CHECK_FALSE(belong_together(of_a, {in_b, in_a}));
}

TEST_CASE_METHOD(TwoContexts, "an address inside an allocation counts as the allocation, and address 0 is ignored") {
  CHECK(belong_together(of_a, {in_a + 100, 0}));
  CHECK_FALSE(belong_together(of_a, {in_b + 100, 0}));
}

TEST_CASE_METHOD(TwoContexts, "an address that belongs to no allocation is an error") {
  int local = 0;
  CHECK_THROWS_AS(belong_together(of_a, {reinterpret_cast<CUdeviceptr>(&local)}), cu::Error);
}

TEST_CASE_METHOD(
    TwoContexts,
    "such an address is an error even after an address in another context, and the stack does not change") {
  int local = 0;
  CHECK_THROWS_AS(belong_together(of_a, {in_b, reinterpret_cast<CUdeviceptr>(&local)}), cu::Error);
  CHECK(current() == b);
}

TEST_CASE_METHOD(TwoContexts, "the null stream is an error if no context is current") {
  CUcontext popped;
  std::vector<CUcontext> all;
  while (cuCtxPopCurrent(&popped) == CUDA_SUCCESS) all.push_back(popped);
  CHECK_THROWS_AS(belong_together(nullptr, {}), cu::Error);
  for (auto each = all.rbegin(); each != all.rend(); ++each) CU_CHECK(cuCtxPushCurrent(*each));
}

TEST_CASE_METHOD(TwoContexts, "memory from a pool can be used by both contexts of its device") {
  CUcontext owner = b;
  CU_CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, in_pool));
  REQUIRE(owner == nullptr);
  CHECK(belong_together(of_a, {in_pool, in_a}));
  CHECK(belong_together(of_b, {in_b, in_pool + 100}));
  CHECK(belong_together(nullptr, {in_pool}));
  CHECK_FALSE(belong_together(of_a, {in_pool, in_b}));
  CHECK(current() == b);
}

TEST_CASE("memory from the pool of another device does not belong to the stream") {
  int devices;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGetCount(&devices));
  if (devices < 2) SKIP_TEST("this case needs two devices, and there is only one");
  cu::Context first(0);
  cu::Stream stream;
  cu::Context second(1);
  CUdeviceptr elsewhere;
  CU_CHECK(cuMemAllocAsync(&elsewhere, 4096, nullptr));
  CU_CHECK(cuCtxSynchronize());
  CHECK(belong_together(nullptr, {elsewhere}));
  CHECK_FALSE(belong_together(stream.handle, {elsewhere}));
  CU_CHECK(cuMemFreeAsync(elsewhere, nullptr));
  CU_CHECK(cuCtxSynchronize());
}
