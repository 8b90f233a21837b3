// Self-check of 01-driver-init/09-entry-points: judges the learner's known_since().
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

// A driver of CUDA 99.3, while a test says so. It has one function, and has had it since CUDA 99.3.
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

TEST_CASE("stream-ordered allocation came with CUDA 11.2") { CHECK(known("cuMemAllocAsync") == 11020); }

TEST_CASE("graphs came with CUDA 10.0") { CHECK(known("cuGraphCreate") == 10000); }

TEST_CASE("what came lately is known, too: the driver's own version is the last one to try") {
  int own;
  CU_CHECK(cuDriverGetVersion(&own));
  if (own < 12040) SKIP_TEST("this driver is older than the function that is asked for");
  CHECK(known("cuGreenCtxCreate") == 12040);
}

TEST_CASE("what came with the driver's own version is known, whichever that is") {
  newest = true;
  const int since = known_since("cuNewest"), never = known_since("cuNope");
  newest = false;
  CHECK(since == kNewest);
  CHECK(never == 0);
}

TEST_CASE("what was there from the beginning is known since 2.0") { CHECK(known("cuInit") == 2000); }

TEST_CASE("a name that the driver does not know has no version") {
  CHECK(known("cuNope") == 0);
  CHECK(known("cudaMalloc") == 0);
}

TEST_CASE("a name is given without its suffix") { CHECK(known("cuMemAlloc_v2") == 0); }

TEST_CASE("a toolkit may have many minor versions: launches with attributes came with CUDA 11.6") {
  CHECK(known("cuLaunchKernelEx") == 11060);
}

TEST_CASE("each call is checked: what the driver refuses is thrown") {
  CU_CHECK(cuInit(0));
  CHECK(goes_on({"cuDriverGetVersion", "cuGetProcAddress"}, [] { known_since("cuMemAllocAsync"); }) == "");
}
