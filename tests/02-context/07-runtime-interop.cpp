// Checks the learner's set_device() (exercise of 02-context/07-runtime-interop).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/driver.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

void set_device(int ordinal);

namespace {

std::atomic<int> retained[2];  // how often the primary context of each device was retained

// The first device, and an empty context stack before and after.
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

  // Not counted in `retained`.
  CUcontext primary() const { return primary_of(device); }
  static CUcontext primary_of(CUdevice device) {
    CUcontext context;
    CU_CHECK(DRIVERS(cuDevicePrimaryCtxRetain)(&context, device));
    CU_CHECK(cuDevicePrimaryCtxRelease(device));
    return context;
  }
};

struct TwoDevices : Device {
  CUdevice second = 0;
  TwoDevices() {
    int count;
    CU_CHECK(cuDeviceGetCount(&count));
    if (count > 1) CU_CHECK(cuDeviceGet(&second, 1));
  }
};
#define NEEDS_TWO_DEVICES \
  if (second == device) SKIP_TEST("this case needs two devices, and there is only one")

}  // namespace

// Retaining takes some time here. If a solution tests and retains in two steps, other threads get in between.
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (Refusal::meets("cuDevicePrimaryCtxRetain")) return kRefused;
  if (device >= 0 && device < 2) ++retained[device];
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return DRIVERS(cuDevicePrimaryCtxRetain)(context, device);
}

MAY_BE_REFUSED(cuInit, (unsigned int flags), (flags))
MAY_BE_REFUSED(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
MAY_BE_REFUSED(cuCtxSetCurrent, (CUcontext context), (context))

// Runs in a child process, where no context is retained yet. The parent has not initialized the driver at this point.
TEST_CASE("a retain that has failed is tried again in the next call") {
  const Child child = in_a_child([]() -> std::string {
    {
      const Refusal refusal("cuDevicePrimaryCtxRetain");
      try {
        set_device(0);
        if (refusal.met()) return refusal.message() + ", and no cu::Error was thrown";
      } catch (const cu::Error&) {
        if (!refusal.met()) return "";  // another error, which the other cases report
      }
    }
    set_device(0);
    return current() == nullptr ? "cuDevicePrimaryCtxRetain failed once and then succeeded, but no context is current"
                                : "";
  });
  CHECK(child.threw == "");
  CHECK(child.returned == "");
}

TEST_CASE("set_device can be the first call of a program, before cuInit") {
  set_device(0);
  CHECK(current() != nullptr);
  CUcontext popped;
  cuCtxPopCurrent(&popped);
}

TEST_CASE_METHOD(Device, "the primary context is current and can be used") {
  set_device(0);
  CHECK(current() == primary());
  CUdeviceptr memory;
  REQUIRE(cuMemAlloc(&memory, 4) == CUDA_SUCCESS);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "set_device replaces the top of the stack and nothing below it") {
  cu::Context below;
  cu::Context mine;
  set_device(0);
  CHECK(current() == primary());
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == below.handle);
}

TEST_CASE_METHOD(Device, "repeated calls retain the context once") {
  for (int i = 0; i < 5; ++i) set_device(0);
  CHECK(retained[0] <= 1);
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

// This is the first case that uses device 1, so its context is not retained yet.
TEST_CASE_METHOD(TwoDevices, "many threads at the same time retain the context once") {
  NEEDS_TWO_DEVICES;
  std::vector<std::thread> threads;
  std::vector<CUcontext> got(8);
  std::atomic<int> failed{0};
  for (CUcontext& mine : got) {
    threads.emplace_back([&mine, &failed] {
      try {
        set_device(1);
        mine = current();
      } catch (const std::exception&) {
        ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  CHECK(retained[1] <= 1);
  for (CUcontext context : got) CHECK(context == primary_of(second));
}

TEST_CASE_METHOD(TwoDevices, "each device has its own context, and a thread can switch between them") {
  NEEDS_TWO_DEVICES;
  set_device(0);
  set_device(1);
  CHECK(current() == primary_of(second));
  CUdevice there = -1;
  CU_CHECK(cuCtxGetDevice(&there));
  CHECK(there == second);
  set_device(0);
  CHECK(current() == primary());
  CHECK(retained[0] <= 1);
  CHECK(retained[1] <= 1);
}

TEST_CASE_METHOD(Device, "the context stays active when other users have released it") {
  set_device(0);
  primary();
  CUdeviceptr memory;
  REQUIRE(cuMemAlloc(&memory, 4) == CUDA_SUCCESS);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "a device that does not exist is an error, and the stack does not change") {
  cu::Context mine;
  CHECK_THROWS_AS(set_device(99), cu::Error);
  CHECK(current() == mine.handle);
}

TEST_CASE_METHOD(Device, "every driver error is thrown") {
  CHECK(ignored_failure({"cuInit", "cuDeviceGet", "cuCtxSetCurrent"}, [] { set_device(0); }) == "");
}
