// Checks the exercise of 01-driver-init/01-hello-driver. The functions below replace the driver's, so that the expected
// results are known on every machine.
#include "tests/catch.hpp"

#include <cuda.h>

bool driver_at_least(int major, int minor);

namespace {

// A driver for CUDA 10.5: older than all headers that this course can be compiled with.
constexpr int kMajor = 10, kMinor = 5;
CUresult version_result = CUDA_SUCCESS, init_result = CUDA_SUCCESS;

}  // namespace

// A function of the program replaces a library's function of the same name.
CUresult CUDAAPI cuDriverGetVersion(int* version) {
  *version = 1000 * kMajor + 10 * kMinor;
  return version_result;
}

CUresult CUDAAPI cuInit(unsigned) { return init_result; }

TEST_CASE("the driver's own version is new enough") { CHECK(driver_at_least(kMajor, kMinor)); }

TEST_CASE("the next minor version is too new") { CHECK_FALSE(driver_at_least(kMajor, kMinor + 1)); }

TEST_CASE("the next major version is too new") { CHECK_FALSE(driver_at_least(kMajor + 1, 0)); }

TEST_CASE("an earlier major version is old enough, whatever its minor version") {
  CHECK(driver_at_least(kMajor - 1, 0));
  CHECK(driver_at_least(kMajor - 1, kMinor + 1));
}

TEST_CASE("a driver that finds no GPU still reports its version") {
  init_result = CUDA_ERROR_NO_DEVICE;
  const bool new_enough = driver_at_least(kMajor, kMinor);
  init_result = CUDA_SUCCESS;
  CHECK(new_enough);
}

TEST_CASE("the version is not used if the call fails") {
  version_result = CUDA_ERROR_UNKNOWN;
  const bool new_enough = driver_at_least(kMajor, kMinor);
  version_result = CUDA_SUCCESS;
  CHECK_FALSE(new_enough);
}
