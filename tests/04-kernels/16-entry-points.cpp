// Checks the exercise of 04-kernels/16-entry-points.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <cstring>

int known_since(const char* name);

namespace {

int known(const char* name) {
  CU_CHECK(cuInit(0));
  return known_since(name);
}

// While this is set, the functions below are a made-up driver for CUDA 99.3, which has a single function since 99.3.
bool newest = false;
constexpr int kNewest = 99030;

}  // namespace

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  if (Refusal::meets("cuDriverGetVersion")) return kRefused;
  if (!newest) return DRIVERS(cuDriverGetVersion)(version);
  *version = kNewest;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult* status) {
  if (Refusal::meets("cuGetProcAddress")) return kRefused;
  if (!newest) return DRIVERS(cuGetProcAddress)(name, function, version, flags, status);
  const bool known = std::strcmp(name, "cuNewest") == 0, found = known && version >= kNewest;
  *function = found ? reinterpret_cast<void*>(&cuInit) : nullptr;
  if (status != nullptr) {
    *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
              : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

TEST_CASE("stream-ordered allocation appeared in CUDA 11.2") { CHECK(known("cuMemAllocAsync") == 11020); }

TEST_CASE("graphs appeared in CUDA 10.0") { CHECK(known("cuGraphCreate") == 10000); }

TEST_CASE("recent functions are found too") {
  int own;
  CU_CHECK(cuDriverGetVersion(&own));
  if (own < 12040) SKIP_TEST("this driver is older than the function that the test looks up");
  CHECK(known("cuGreenCtxCreate") == 12040);
}

TEST_CASE("a function that is as new as the driver is found") {
  newest = true;
  const int since = known_since("cuNewest"), never = known_since("cuNope");
  newest = false;
  CHECK(since == kNewest);
  CHECK(never == 0);
}

TEST_CASE("the oldest functions are known since 2.0") { CHECK(known("cuInit") == 2000); }

TEST_CASE("an unknown name has no version") {
  CHECK(known("cuNope") == 0);
  CHECK(known("cudaMalloc") == 0);
}

TEST_CASE("an exported name with a suffix is unknown") { CHECK(known("cuMemAlloc_v2") == 0); }

TEST_CASE("all minor versions are tried: launches with attributes appeared in CUDA 11.6") {
  CHECK(known("cuLaunchKernelEx") == 11060);
}

TEST_CASE("each call is checked, and a failure is thrown as cu::Error") {
  CU_CHECK(cuInit(0));
  CHECK(ignored_failure({"cuDriverGetVersion", "cuGetProcAddress"}, [] { known_since("cuMemAllocAsync"); }) == "");
}
