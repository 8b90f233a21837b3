// Self-check of 02-context/05-primary: judges the learner's in_primary().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <functional>
#include <stdexcept>

void in_primary(CUdevice device, const std::function<void()>& work);

namespace {

// A device whose primary context nobody has retained, and an empty stack, before and after.
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
    while (cuDevicePrimaryCtxRelease(device) == CUDA_SUCCESS) {
    }
  }

  bool primary_lives() const {
    unsigned flags;
    int active;
    CU_CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active != 0;
  }
};

}  // namespace

MAY_BE_REFUSED(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
MAY_BE_REFUSED(cuCtxPushCurrent, (CUcontext context), (context))

TEST_CASE_METHOD(Device, "the work can allocate: the primary context is current") {
  CUcontext seen = nullptr, primary = nullptr;
  CUresult answer = CUDA_ERROR_UNKNOWN;
  in_primary(device, [&] {
    seen = current();
    CUdeviceptr memory;
    answer = cuMemAlloc(&memory, 4);
    if (answer == CUDA_SUCCESS) cuMemFree(memory);
  });
  CHECK(answer == CUDA_SUCCESS);
  CU_CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  CHECK(seen == primary);
}

TEST_CASE_METHOD(Device, "the last guest turns off the light") {
  in_primary(device, [] {});
  CHECK_FALSE(primary_lives());
}

TEST_CASE_METHOD(Device, "the light stays on for the others, and so does their memory") {
  CUcontext primary;
  CUdeviceptr memory;
  CU_CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  CU_CHECK(cuCtxPushCurrent(primary));
  CU_CHECK(cuMemAlloc(&memory, 4));
  in_primary(device, [] {});
  CHECK(primary_lives());
  CHECK(cuMemsetD32(memory, 1, 1) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "it lives as long as the work lasts, also when the others let go") {
  CUcontext primary;
  CUresult answer = CUDA_ERROR_UNKNOWN;
  CU_CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  in_primary(device, [&] {
    CU_CHECK(cuDevicePrimaryCtxRelease(device));
    CUdeviceptr memory;
    answer = cuMemAlloc(&memory, 4);
    if (answer == CUDA_SUCCESS) cuMemFree(memory);
  });
  CHECK(answer == CUDA_SUCCESS);
  CHECK_FALSE(primary_lives());
}

TEST_CASE_METHOD(Device, "the caller's own context is current again, and there is nothing else on the stack") {
  CUcontext mine, popped;
  CU_CHECK(cuCtxCreate(&mine, nullptr, 0, device));
  in_primary(device, [] {});
  CHECK(current() == mine);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
  CU_CHECK(cuCtxDestroy(mine));
}

TEST_CASE_METHOD(Device, "work that throws is cleaned up after, too") {
  CHECK_THROWS_AS(in_primary(device, [] { throw std::runtime_error("from the work"); }), std::runtime_error);
  CHECK(current() == nullptr);
  CHECK_FALSE(primary_lives());
}

TEST_CASE_METHOD(Device, "a device that the driver refuses is reported, and the work is not done") {
  bool done = false;
  CHECK_THROWS_AS(in_primary(99, [&] { done = true; }), cu::Error);
  CHECK_FALSE(done);
}

TEST_CASE_METHOD(Device, "what was not pushed is not popped") {
  CUcontext mine;
  CU_CHECK(cuCtxCreate(&mine, nullptr, 0, device));
  CHECK_THROWS_AS(in_primary(99, [] {}), cu::Error);
  CHECK(current() == mine);
  cuCtxDestroy(mine);
}

TEST_CASE_METHOD(Device, "whatever the work throws, it is cleaned up after, and passes on as it is") {
  CHECK_THROWS_AS(in_primary(device, [] { throw 42; }), int);  // not every exception is a std::exception
  CHECK(current() == nullptr);
  CHECK_FALSE(primary_lives());
}

TEST_CASE_METHOD(Device, "if the context cannot be made current, that is thrown, and it is released") {
  CHECK(goes_on({"cuDevicePrimaryCtxRetain", "cuCtxPushCurrent"}, [&] { in_primary(device, [] {}); }) == "");
  CHECK(current() == nullptr);
  CHECK_FALSE(primary_lives());
}
