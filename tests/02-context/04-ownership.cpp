// Self-check of 02-context/04-ownership: judges the learner's rescue().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

CUdeviceptr rescue(CUdeviceptr memory, std::size_t bytes, CUcontext from, CUcontext heir);

namespace {

constexpr std::size_t kBytes = 32 << 20;

int destroyed = 0;  // contexts that the program has destroyed
CUcontext last_destroyed = nullptr;

// Three contexts, none current; `from` owns memory that is full of 7s.
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
    destroyed = 0;
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

// The answer's calls come through here.
CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  ++destroyed;
  last_destroyed = context;
  return DRIVERS(cuCtxDestroy)(context);
}

TEST_CASE_METHOD(Contexts, "the bytes outlive the context that owned them") {
  const CUdeviceptr saved = rescue(memory, kBytes, from, heir);
  REQUIRE(saved != memory);
  CU_CHECK(cuCtxPushCurrent(heir));
  std::vector<unsigned> numbers(kBytes / 4);
  REQUIRE(cuMemcpyDtoH(numbers.data(), saved, kBytes) == CUDA_SUCCESS);
  CHECK(numbers == std::vector<unsigned>(kBytes / 4, 7));
}

TEST_CASE_METHOD(Contexts, "they belong to the heir, whoever was current") {
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

TEST_CASE_METHOD(Contexts, "the caller's context is current again, and nothing lies above or below it") {
  CU_CHECK(cuCtxPushCurrent(other));
  rescue(memory, kBytes, from, heir);
  CHECK(current() == other);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Contexts, "what cannot be copied is not thrown away") {
  CU_CHECK(cuCtxPushCurrent(other));
  CHECK_THROWS_AS(rescue(memory, kBytes + (64 << 20), from, heir), cu::Error);
  CHECK(destroyed == 0);
  CHECK(current() == other);
}

TEST_CASE_METHOD(Contexts, "a caller without a context has none afterwards") {
  rescue(memory, kBytes, from, heir);
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Contexts, "a caller in the heir is in it once, as before") {
  CU_CHECK(cuCtxPushCurrent(heir));
  rescue(memory, kBytes, from, heir);
  CHECK(current() == heir);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
}
