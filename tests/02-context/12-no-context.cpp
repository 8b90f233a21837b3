// Checks the learner's ready() (exercise of 02-context/12-no-context). The first two cases run before cuInit.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <thread>

enum class Ready { yes, not_initialized, no_context };
Ready ready();

CATCH_REGISTER_ENUM(Ready, Ready::yes, Ready::not_initialized, Ready::no_context)

namespace {

int kept = 0;                     // allocations that were not freed
CUresult trouble = CUDA_SUCCESS;  // returned by the calls below instead of the driver's result
int asked = 0;                    // how often one of them was called

CUdevice device() {
  CUdevice first;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&first, 0));
  return first;
}

}  // namespace

// The calls of the learner's code are intercepted here.
CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  ++asked;
  if (trouble != CUDA_SUCCESS) return trouble;
  const CUresult result = DRIVERS(cuMemAlloc)(address, bytes);
  kept += result == CUDA_SUCCESS;
  return result;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  const CUresult result = DRIVERS(cuMemFree)(address);
  kept -= result == CUDA_SUCCESS && address != 0;
  return result;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
  ++asked;
  return trouble != CUDA_SUCCESS ? trouble : DRIVERS(cuCtxGetCurrent)(context);
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  ++asked;
  return trouble != CUDA_SUCCESS ? trouble : DRIVERS(cuCtxGetDevice)(device);
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  ++asked;
  return trouble != CUDA_SUCCESS ? trouble : DRIVERS(cuDeviceGetCount)(count);
}

CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  ++asked;
  return trouble != CUDA_SUCCESS ? trouble : DRIVERS(cuMemGetInfo)(free, total);
}

TEST_CASE("before cuInit, the result is not_initialized") { CHECK(ready() == Ready::not_initialized); }

TEST_CASE("ready() does not initialize the driver") {
  try {
    ready();
  } catch (const cu::Error&) {  // the case above checks this
  }
  int count;
  CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

TEST_CASE("without a context, the result is no_context") {
  device();
  CHECK(ready() == Ready::no_context);
}

TEST_CASE("ready() does not create a context") {
  const CUdevice first = device();
  ready();
  CHECK(current() == nullptr);
  unsigned flags;
  int active;
  CU_CHECK(cuDevicePrimaryCtxGetState(first, &flags, &active));
  CHECK(active == 0);
}

TEST_CASE("with a current context the result is yes, and no memory stays allocated") {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device()));
  kept = 0;
  CHECK(ready() == Ready::yes);
  CHECK(kept == 0);
  CU_CHECK(cuCtxDestroy(context));
}

TEST_CASE("a context that is not current does not count") {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device()));
  CU_CHECK(cuCtxPopCurrent(&context));
  CHECK(ready() == Ready::no_context);
  CU_CHECK(cuCtxDestroy(context));
}

TEST_CASE("any other error is thrown") {
  device();
  bool thrown = false;
  asked = 0;
  trouble = CUDA_ERROR_UNKNOWN;
  try {
    ready();
  } catch (const cu::Error&) {
    thrown = true;
  }
  trouble = CUDA_SUCCESS;
  INFO((asked > 0 ? "The driver returned CUDA_ERROR_UNKNOWN, which must be thrown. It was "
                  : "The code made none of the calls that return an unexpected error here. An exception was ")
       << (thrown ? "thrown" : "not thrown"));
  CHECK(thrown == (asked > 0));  // other ways to find out do not get this error
}

TEST_CASE("the result describes the calling thread at this moment") {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device()));
  CHECK(ready() == Ready::yes);
  Ready elsewhere = Ready::yes;
  std::thread([&] { elsewhere = ready(); }).join();
  CHECK(elsewhere == Ready::no_context);
  CU_CHECK(cuCtxDestroy(context));
  CHECK(ready() == Ready::no_context);
}
