// Checks the learner's create_with() (exercise of 02-context/01-create-destroy).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

CUcontext create_with(CUdevice device, std::size_t bytes);

namespace {

constexpr std::size_t kMiB = 1 << 20;

// The amount of free memory is simulated: 1000 MiB without a context, and 300 MiB less for each context that exists.
std::size_t contexts = 0;
std::size_t destroyed = 0;

// A device, and an empty context stack before and after.
struct Device {
  CUdevice device;
  Device() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    destroyed = 0;
  }
  ~Device() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) cuCtxDestroy(left);
    contexts = 0;
  }
};

CUcontext create(CUdevice device) {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  return context;
}

}  // namespace

#if CUDA_VERSION >= 13000
CUresult CUDAAPI cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
  if (Refusal::meets("cuCtxCreate")) return kRefused;
  const CUresult result = DRIVERS(cuCtxCreate)(context, parameters, flags, device);
#else
CUresult CUDAAPI cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  if (Refusal::meets("cuCtxCreate")) return kRefused;
  const CUresult result = DRIVERS(cuCtxCreate_v2)(context, flags, device);
#endif
  if (result == CUDA_SUCCESS) ++contexts;
  return result;
}

CUresult CUDAAPI cuCtxDestroy(CUcontext context) {
  const CUresult result = DRIVERS(cuCtxDestroy)(context);
  if (result == CUDA_SUCCESS) --contexts, ++destroyed;
  return result;
}

CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (Refusal::meets("cuMemGetInfo")) return kRefused;
  const CUresult result = DRIVERS(cuMemGetInfo)(free, total);
  if (result == CUDA_SUCCESS) *free = (1000 - 300 * contexts) * kMiB, *total = 2000 * kMiB;
  return result;
}

TEST_CASE_METHOD(Device, "the returned context is current, and on the device") {
  const CUcontext context = create_with(device, 1);
  REQUIRE(context != nullptr);
  CHECK(current() == context);
  CUdevice on = -1;
  CHECK(cuCtxGetDevice(&on) == CUDA_SUCCESS);
  CHECK(on == device);
}

TEST_CASE_METHOD(Device, "exactly as much free memory as needed is enough") {
  CHECK(create_with(device, 700 * kMiB) != nullptr);
}

TEST_CASE_METHOD(Device, "too little free memory returns null, and the caller has no context") {
  CHECK(create_with(device, 700 * kMiB + 1) == nullptr);
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Device, "a context that is not returned is destroyed, not only popped") {
  CHECK(create_with(device, 999 * kMiB) == nullptr);
  CHECK(contexts == 0);
}

TEST_CASE_METHOD(Device, "the memory that the new context itself takes is not free") {
  const CUcontext callers = create(device);
  INFO("700 MiB were free before the call, and 400 MiB would be left with the new context.");
  CHECK(create_with(device, 500 * kMiB) == nullptr);
  CHECK(current() == callers);
}

TEST_CASE_METHOD(Device, "the caller's context is current again if no context is returned") {
  const CUcontext callers = create(device);
  CHECK(create_with(device, 999 * kMiB) == nullptr);
  REQUIRE(current() == callers);
  CUcontext popped;
  CHECK(cuCtxPopCurrent(&popped) == CUDA_SUCCESS);
  CHECK(current() == nullptr);
  CHECK(cuCtxDestroy(callers) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "a device that does not exist is an error") {
  CHECK_THROWS_AS(create_with(99, 1), cu::Error);
  CHECK(current() == nullptr);
}

TEST_CASE_METHOD(Device, "a failed query throws, and the new context is destroyed") {
  const CUcontext callers = create(device);
  const Refusal query("cuMemGetInfo");
  CHECK_THROWS_AS(create_with(device, 1), cu::Error);
  CHECK(contexts == 1);
  CHECK(current() == callers);
}

TEST_CASE_METHOD(Device, "a context that cannot be created is an error") {
  const Refusal refusal("cuCtxCreate");
  CHECK_THROWS_AS(create_with(device, 1), cu::Error);
  CHECK(current() == nullptr);
  CHECK(destroyed == 0);
}
