// Checks the exercise of 01-driver-init/11-before-init. Nothing in this file calls cuInit.
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <cuda.h>

#include <string>

std::string describe(CUresult code);

TEST_CASE("an error is described by name, number and description") {
  CHECK(describe(CUDA_ERROR_INVALID_VALUE) == "CUDA_ERROR_INVALID_VALUE (1): invalid argument");
  CHECK(describe(CUDA_ERROR_NO_DEVICE) == "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
}

TEST_CASE("success is described like any other code") { CHECK(describe(CUDA_SUCCESS) == "CUDA_SUCCESS (0): no error"); }

TEST_CASE("an unknown code is described by its number and does not crash") {
  CHECK(describe(static_cast<CUresult>(12345)) == "12345: unknown to this driver");
}

TEST_CASE("describing a code does not initialize the driver") {
  describe(CUDA_ERROR_NOT_INITIALIZED);
  int count;
  CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

TEST_CASE("every code that this driver knows is described in full, and all others are unknown") {
  for (int number = 0; number < 1000; ++number) {
    const auto code = static_cast<CUresult>(number);
    const char *name = nullptr, *description = nullptr;
    if (cuGetErrorName(code, &name) == CUDA_SUCCESS && cuGetErrorString(code, &description) == CUDA_SUCCESS) {
      REQUIRE(describe(code) == name + (" (" + std::to_string(number) + "): ") + description);
    } else {
      REQUIRE(describe(code) == std::to_string(number) + ": unknown to this driver");
    }
  }
}
