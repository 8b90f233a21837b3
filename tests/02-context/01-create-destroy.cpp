// Self-check of 02-context/01-create-destroy: judges the learner's free_memory().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

std::size_t free_memory(CUdevice device);

namespace {

int given_up = 0;      // contexts that the program has destroyed or released
bool refused = false;  // does the driver refuse to tell what is free?

// A device, and a stack that is empty before and after.
struct Device {
  CUdevice device;
  Device() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
  }
  ~Device() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) cuCtxDestroy(left);
  }
};

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  ++given_up;
  return DRIVERS(cuCtxDestroy)(context);
}

CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return refused ? CUDA_ERROR_UNKNOWN : DRIVERS(cuMemGetInfo)(free, total);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  ++given_up;
  return DRIVERS(cuDevicePrimaryCtxRelease)(device);
}

TEST_CASE_METHOD(Device, "a caller without a context gets an answer") {
  std::size_t total;
  CU_CHECK(cuDeviceTotalMem(&total, device));
  const std::size_t free = free_memory(device);
  CHECK(free > 0);
  CHECK(free <= total);
}

TEST_CASE_METHOD(Device, "a caller without a context has none afterwards") {
  free_memory(device);
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Device, "the context is destroyed, not only popped") {
  given_up = 0;
  free_memory(device);
  CHECK(given_up == 1);
}

TEST_CASE_METHOD(Device, "the caller's context is still current and still works") {
  CUcontext mine;
  CU_CHECK(cuCtxCreate(&mine, nullptr, 0, device));
  free_memory(device);
  REQUIRE(current() == mine);
  std::size_t free, total;
  CHECK(cuMemGetInfo(&free, &total) == CUDA_SUCCESS);
  int contexts_on_the_stack = 0;
  for (CUcontext popped; cuCtxPopCurrent(&popped) == CUDA_SUCCESS;) ++contexts_on_the_stack;
  CHECK(contexts_on_the_stack == 1);
  CU_CHECK(cuCtxDestroy(mine));
}

TEST_CASE_METHOD(Device, "a device that is not there is refused, not taken for another one") {
  CHECK_THROWS_AS(free_memory(99), cu::Error);
  CHECK(current() == nullptr);
  CUcontext mine;
  CU_CHECK(cuCtxCreate(&mine, nullptr, 0, device));
  CHECK_THROWS_AS(free_memory(99), cu::Error);
  CHECK(current() == mine);
}

TEST_CASE_METHOD(Device, "where the driver refuses, it throws and leaves nothing behind all the same") {
  given_up = 0;
  refused = true;
  CHECK_THROWS_AS(free_memory(device), cu::Error);
  refused = false;
  CHECK(given_up == 1);
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Device, "memory that somebody allocated is not free") {
  CUcontext mine;
  CU_CHECK(cuCtxCreate(&mine, nullptr, 0, device));
  const std::size_t before = free_memory(device);
  REQUIRE(current() == mine);
  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, 256 << 20));
  const std::size_t after = free_memory(device);
  CU_CHECK(cuMemFree(memory));
  CHECK(before > after + (200 << 20));  // not to the byte: two contexts need not cost the same
}
