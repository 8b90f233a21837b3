// Self-check of 02-context/02-no-context: judges the learner's ready(). The first two cases come before cuInit.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <thread>

enum class Ready { yes, not_initialised, no_context };
Ready ready();

CATCH_REGISTER_ENUM(Ready, Ready::yes, Ready::not_initialised, Ready::no_context)

namespace {

int kept = 0;                     // allocations that it has made and not freed
CUresult trouble = CUDA_SUCCESS;  // what the driver answers to the calls below, instead of what was asked for
int asked = 0;                    // how often one of them was made

CUdevice device() {
  CUdevice first;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&first, 0));
  return first;
}

}  // namespace

// The answer's calls come through here.
CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  ++asked;
  if (trouble != CUDA_SUCCESS) return trouble;
  const CUresult answer = DRIVERS(cuMemAlloc)(address, bytes);
  kept += answer == CUDA_SUCCESS;
  return answer;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  const CUresult answer = DRIVERS(cuMemFree)(address);
  kept -= answer == CUDA_SUCCESS && address != 0;
  return answer;
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

TEST_CASE("before cuInit, that is what is missing") { CHECK(ready() == Ready::not_initialised); }

TEST_CASE("asking initialises nothing") {
  try {
    ready();
  } catch (const cu::Error&) {  // judged by the case above
  }
  int count;
  CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

TEST_CASE("without a context, that is what is missing") {
  device();
  CHECK(ready() == Ready::no_context);
}

TEST_CASE("asking creates no context") {
  const CUdevice first = device();
  ready();
  CHECK(current() == nullptr);
  unsigned flags;
  int active;
  CU_CHECK(cuDevicePrimaryCtxGetState(first, &flags, &active));
  CHECK(active == 0);
}

TEST_CASE("with a current context nothing is missing, and asking allocates nothing") {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device()));
  kept = 0;
  CHECK(ready() == Ready::yes);
  CHECK(kept == 0);
  CU_CHECK(cuCtxDestroy(context));
}

TEST_CASE("a context that is not current is no help") {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device()));
  CU_CHECK(cuCtxPopCurrent(&context));
  CHECK(ready() == Ready::no_context);
  CU_CHECK(cuCtxDestroy(context));
}

TEST_CASE("other trouble is thrown, and not called by another name") {
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
  INFO((asked > 0 ? "The driver answered CUDA_ERROR_UNKNOWN, which is to be thrown: it was "
                  : "The driver was asked nothing that it could not have answered; something was ")
       << (thrown ? "thrown" : "not thrown"));
  CHECK(thrown == (asked > 0));  // who asks in another way has not met it
}

TEST_CASE("the answer is of now, and of the thread that asks") {
  CUcontext context;
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device()));
  CHECK(ready() == Ready::yes);
  Ready elsewhere = Ready::yes;
  std::thread([&] { elsewhere = ready(); }).join();
  CHECK(elsewhere == Ready::no_context);
  CU_CHECK(cuCtxDestroy(context));
  CHECK(ready() == Ready::no_context);
}
