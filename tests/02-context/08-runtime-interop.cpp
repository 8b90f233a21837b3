// Self-check of 02-context/08-runtime-interop: judges the learner's set_device().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <thread>

void set_device(int ordinal);

namespace {

int retained = 0;  // how often the answer has retained a primary context

// The first device, and an empty stack before and after.
struct Device {
  CUdevice device;
  Device() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
  }
  ~Device() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
  }

  // Without a trace in `retained`.
  CUcontext primary() const {
    CUcontext context;
    CU_CHECK(DRIVERS(cuDevicePrimaryCtxRetain)(&context, device));
    CU_CHECK(cuDevicePrimaryCtxRelease(device));
    return context;
  }
};

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ++retained;
  return DRIVERS(cuDevicePrimaryCtxRetain)(context, device);
}

TEST_CASE("a program that has not called cuInit can begin with it") {
  set_device(0);
  CHECK(current() != nullptr);
  CUcontext popped;
  cuCtxPopCurrent(&popped);
}

TEST_CASE_METHOD(Device, "the primary context is current, and can be used") {
  set_device(0);
  CHECK(current() == primary());
  CUdeviceptr memory;
  REQUIRE(cuMemAlloc(&memory, 4) == CUDA_SUCCESS);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "it takes the place of what was on top, and of nothing else") {
  cu::Context below;
  cu::Context mine;
  set_device(0);
  CHECK(current() == primary());
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == below.handle);
}

TEST_CASE_METHOD(Device, "called often, it retains once") {
  for (int i = 0; i < 5; ++i) set_device(0);
  CHECK(retained <= 1);
}

TEST_CASE_METHOD(Device, "another thread gets the same context") {
  set_device(0);
  CUcontext elsewhere = nullptr;
  std::thread([&] {
    set_device(0);
    elsewhere = current();
  }).join();
  CHECK(elsewhere == primary());
}

TEST_CASE_METHOD(Device, "the context stays alive when the others have released it") {
  set_device(0);
  primary();
  CUdeviceptr memory;
  REQUIRE(cuMemAlloc(&memory, 4) == CUDA_SUCCESS);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "a device that is not there is an error, and changes nothing") {
  cu::Context mine;
  CHECK_THROWS_AS(set_device(99), cu::Error);
  CHECK(current() == mine.handle);
}
