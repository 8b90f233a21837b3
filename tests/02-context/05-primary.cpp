// Checks the learner's repair of the plugin (exercise of 02-context/05-primary).
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <vector>

struct Mirror;
Mirror* mirror_create(CUdevice device, const std::vector<unsigned>& numbers);
std::vector<unsigned> mirror_read(const Mirror* mirror);
void mirror_destroy(Mirror* mirror);

namespace {

const std::vector<unsigned> kNumbers = {3, 1, 4, 1, 5};

int live = 0;  // allocations that were not freed

// A device whose primary context is not retained, and an empty context stack, before and after.
struct Device {
  CUdevice device;
  Device() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    live = 0;
  }
  ~Device() {
    CUcontext left;
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
    while (cuDevicePrimaryCtxRelease(device) == CUDA_SUCCESS) {
    }
  }

  bool active() const {
    unsigned flags;
    int active;
    CU_CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active != 0;
  }
};

// The application has retained the primary context and made it current.
struct Application : Device {
  CUcontext primary;
  Application() {
    CU_CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    CU_CHECK(cuCtxPushCurrent(primary));
  }
};

}  // namespace

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (Refusal::meets("cuMemAlloc")) return kRefused;
  const CUresult result = DRIVERS(cuMemAlloc)(address, bytes);
  live += result == CUDA_SUCCESS;
  return result;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  const CUresult result = DRIVERS(cuMemFree)(address);
  live -= result == CUDA_SUCCESS && address != 0;
  return result;
}

MAY_BE_REFUSED(cuMemcpyDtoH, (void* to, CUdeviceptr from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes))
MAY_BE_REFUSED(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
MAY_BE_REFUSED(cuCtxPushCurrent, (CUcontext context), (context))

TEST_CASE_METHOD(Application, "a mirror contains the numbers") {
  Mirror* const mirror = mirror_create(device, kNumbers);
  CHECK(mirror_read(mirror) == kNumbers);
  mirror_destroy(mirror);
}

TEST_CASE_METHOD(Application,
                 "the context is inactive after the mirrors are destroyed and the application releases it") {
  Mirror* const first = mirror_create(device, kNumbers);
  Mirror* const second = mirror_create(device, kNumbers);
  for (int i = 0; i < 3; ++i) mirror_read(first);
  mirror_destroy(second);
  mirror_destroy(first);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CU_CHECK(cuDevicePrimaryCtxRelease(device));
  CHECK_FALSE(active());
}

TEST_CASE_METHOD(Device, "a mirror keeps the context active until it is destroyed") {
  Mirror* const mirror = mirror_create(device, kNumbers);
  REQUIRE(active());
  CHECK(mirror_read(mirror) == kNumbers);
  CHECK(active());
  mirror_destroy(mirror);
  CHECK_FALSE(active());
}

TEST_CASE_METHOD(Application, "a mirror can be read after the application has released the context") {
  Mirror* const mirror = mirror_create(device, kNumbers);
  CUcontext popped;
  CU_CHECK(cuCtxPopCurrent(&popped));
  CU_CHECK(cuDevicePrimaryCtxRelease(device));
  REQUIRE(active());
  CHECK(mirror_read(mirror) == kNumbers);
  mirror_destroy(mirror);
  CHECK_FALSE(active());
}

TEST_CASE_METHOD(Application, "the application's reference and its memory survive the mirrors") {
  CUdeviceptr memory;
  CU_CHECK(cuMemAlloc(&memory, 4));
  Mirror* const mirror = mirror_create(device, kNumbers);
  mirror_read(mirror);
  mirror_destroy(mirror);
  CHECK(active());
  CHECK(cuMemsetD32(memory, 1, 1) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Device, "a mirror survives the destruction of another mirror") {
  Mirror* const first = mirror_create(device, kNumbers);
  Mirror* const second = mirror_create(device, kNumbers);
  mirror_destroy(first);
  REQUIRE(active());
  CHECK(mirror_read(second) == kNumbers);
  mirror_destroy(second);
}

TEST_CASE_METHOD(Device, "a mirror that cannot be created throws and leaves nothing behind") {
  for (const char* call : {"cuDevicePrimaryCtxRetain", "cuCtxPushCurrent", "cuMemAlloc", "cuMemcpyHtoD"}) {
    CAPTURE(call);
    const Refusal refusal(call);
    CHECK_THROWS_AS(mirror_create(device, kNumbers), cu::Error);
    CHECK_FALSE(active());
    CHECK(current() == nullptr);
    CHECK(live == 0);
  }
  CHECK_THROWS_AS(mirror_create(99, kNumbers), cu::Error);
}

TEST_CASE_METHOD(Device, "a read that fails throws, and the mirror can still be read and destroyed") {
  Mirror* const mirror = mirror_create(device, kNumbers);
  {
    const Refusal refusal("cuMemcpyDtoH");
    CHECK_THROWS_AS(mirror_read(mirror), cu::Error);
  }
  REQUIRE(active());
  CHECK(current() == nullptr);
  CHECK(mirror_read(mirror) == kNumbers);
  mirror_destroy(mirror);
  CHECK_FALSE(active());
}

TEST_CASE_METHOD(Application, "destroying a mirror frees its memory while the context stays active") {
  Mirror* const mirror = mirror_create(device, kNumbers);
  mirror_destroy(mirror);
  CHECK(active());
  CHECK(live == 0);
}

TEST_CASE_METHOD(Device, "the caller's context stack does not change") {
  CUcontext callers, popped;
  CU_CHECK(cuCtxCreate(&callers, nullptr, 0, device));
  Mirror* const mirror = mirror_create(device, kNumbers);
  CHECK(current() == callers);
  mirror_read(mirror);
  CHECK(current() == callers);
  mirror_destroy(mirror);
  CHECK(current() == callers);
  CU_CHECK(cuCtxPopCurrent(&popped));
  CHECK(current() == nullptr);
  CU_CHECK(cuCtxDestroy(callers));
}
