// Checks the learner's rescue() (exercise of 02-context/04-ownership).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"
#include "tests/numbers.hpp"

#include <chrono>
#include <thread>
#include <vector>

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir);

namespace {

constexpr std::size_t kBytes = 32 << 20;

int destroyed = 0;  // contexts
int live = 0;       // allocations that were not freed
CUcontext last_destroyed = nullptr;

// Three contexts, none of them current. `from` owns memory that is filled with the number 7.
struct Contexts {
  CUcontext from, heir, other;
  CUdeviceptr memory;
  Contexts() {
    CUdevice device;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    for (CUcontext* context : {&heir, &other, &from}) {
      CU_CHECK(cuCtxCreate(context, nullptr, 0, device));
      if (context == &from) {
        CU_CHECK(cuMemAlloc(&memory, kBytes));
        CU_CHECK(cuMemsetD32(memory, 7, kBytes / 4));
        CU_CHECK(cuCtxSynchronize());
      }
      CU_CHECK(cuCtxPopCurrent(context));
    }
    destroyed = live = 0;
    last_destroyed = nullptr;
  }
  ~Contexts() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
    if (last_destroyed == nullptr) cuCtxDestroy(from);
    cuCtxDestroy(heir);
    cuCtxDestroy(other);
  }
};

}  // namespace

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  const CUresult result = DRIVERS(cuMemAlloc)(address, bytes);
  live += result == CUDA_SUCCESS;
  return result;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  const CUresult result = DRIVERS(cuMemFree)(address);
  live -= result == CUDA_SUCCESS;
  return result;
}

CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  if (Refusal::meets("cuCtxDestroy")) return kRefused;
  ++destroyed;
  last_destroyed = context;
  return DRIVERS(cuCtxDestroy)(context);
}

TEST_CASE_METHOD(Contexts, "the copy can be used after the old context is destroyed") {
  const CUdeviceptr saved = rescue(memory, kBytes, from, heir);
  REQUIRE(saved != memory);
  CU_CHECK(cuCtxPushCurrent(heir));
  std::vector<unsigned> numbers(kBytes / 4);
  REQUIRE(cuMemcpyDtoH(numbers.data(), saved, kBytes) == CUDA_SUCCESS);
  CHECK(judged("the copy", numbers.data(), static_cast<int>(numbers.size()), [](int) { return 7u; }) == kAllRight);
}

TEST_CASE_METHOD(Contexts, "the copy belongs to the heir, whichever context was current") {
  CU_CHECK(cuCtxPushCurrent(other));
  const CUdeviceptr saved = rescue(memory, kBytes, from, heir);
  CUcontext owner = nullptr;
  REQUIRE(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, saved) == CUDA_SUCCESS);
  CHECK(owner == heir);
}

TEST_CASE_METHOD(Contexts, "the old context is destroyed, and no other") {
  rescue(memory, kBytes, from, heir);
  CHECK(destroyed == 1);
  CHECK(last_destroyed == from);
}

TEST_CASE_METHOD(Contexts, "the caller's context is current again, and its stack has one entry as before") {
  CU_CHECK(cuCtxPushCurrent(other));
  rescue(memory, kBytes, from, heir);
  CHECK(current() == other);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Contexts, "if the copy fails, the old context is not destroyed") {
  CU_CHECK(cuCtxPushCurrent(other));
  CHECK_THROWS_AS(rescue(memory, kBytes + (64 << 20), from, heir), cu::Error);
  CHECK(destroyed == 0);
  CHECK(current() == other);
}

TEST_CASE_METHOD(Contexts, "a caller without a context has none afterwards") {
  rescue(memory, kBytes, from, heir);
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Contexts, "a caller whose current context is the heir has it once on its stack, as before") {
  CU_CHECK(cuCtxPushCurrent(heir));
  rescue(memory, kBytes, from, heir);
  CHECK(current() == heir);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Contexts, "work that is still running in the old context finishes before the copy") {
  CU_CHECK(cuCtxPushCurrent(from));
  {
    const cu::Stream stream;
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
    CU_CHECK(cuLaunchHostFunc(stream.handle, sleep, nullptr));
    CU_CHECK(cuMemsetD32Async(memory, 9, kBytes / 4, stream.handle));
  }
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  const CUdeviceptr saved = rescue(memory, kBytes, from, heir);
  CU_CHECK(cuCtxPushCurrent(heir));
  std::vector<unsigned> numbers(kBytes / 4);
  REQUIRE(cuMemcpyDtoH(numbers.data(), saved, kBytes) == CUDA_SUCCESS);
  CHECK(judged("the copy", numbers.data(), static_cast<int>(numbers.size()), [](int) { return 9u; }) == kAllRight);
}

TEST_CASE_METHOD(Contexts, "a failure is thrown, and the copy is not leaked") {
  CU_CHECK(cuCtxPushCurrent(other));
  {
    const Refusal refusal("cuCtxDestroy");
    CHECK_THROWS_AS(rescue(memory, kBytes, from, heir), cu::Error);
  }
  CHECK(live == 0);
  CHECK(current() == other);
  CHECK_THROWS_AS(rescue(memory, kBytes + (64 << 20), from, heir), cu::Error);
  CHECK(live == 0);
}
