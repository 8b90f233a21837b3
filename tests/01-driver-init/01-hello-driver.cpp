// Self-check of 01-driver-init/01-hello-driver: judges the learner's driver_at_least(). A driver made up here is asked
// instead of this machine's, so that the answers are known.
#include "tests/catch.hpp"

#include <cuda.h>

bool driver_at_least(int major, int minor);

namespace {

// A driver for CUDA 10.5: older than all headers that this course can be compiled with.
constexpr int kMajor = 10, kMinor = 5;
CUresult answer = CUDA_SUCCESS, init_answers = CUDA_SUCCESS;

}  // namespace

// Functions of the program take the place of a library's of the same name.
CUresult CUDAAPI cuDriverGetVersion(int* version) {
  *version = 1000 * kMajor + 10 * kMinor;
  return answer;
}

CUresult CUDAAPI cuInit(unsigned) { return init_answers; }

TEST_CASE("the driver's own version is new enough") { CHECK(driver_at_least(kMajor, kMinor)); }

TEST_CASE("the next minor version is too new") { CHECK_FALSE(driver_at_least(kMajor, kMinor + 1)); }

TEST_CASE("the next major version is too new") { CHECK_FALSE(driver_at_least(kMajor + 1, 0)); }

TEST_CASE("an earlier major version is old enough, whatever its minor version") {
  CHECK(driver_at_least(kMajor - 1, 0));
  CHECK(driver_at_least(kMajor - 1, kMinor + 1));
}

TEST_CASE("a driver that finds no GPU can be asked, too") {
  init_answers = CUDA_ERROR_NO_DEVICE;
  const bool new_enough = driver_at_least(kMajor, kMinor);
  init_answers = CUDA_SUCCESS;
  CHECK(new_enough);
}

TEST_CASE("a driver that cannot be asked is not new enough, whatever it has written") {
  answer = CUDA_ERROR_UNKNOWN;
  const bool new_enough = driver_at_least(kMajor, kMinor);
  answer = CUDA_SUCCESS;
  CHECK_FALSE(new_enough);
}
