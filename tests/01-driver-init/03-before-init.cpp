// Self-check of 01-driver-init/03-before-init: judges the learner's explained(). Nothing in it calls cuInit.
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <cuda.h>

#include <string>

std::string explained(CUresult code);

TEST_CASE("an error is given by name, number and meaning") {
  CHECK(explained(CUDA_ERROR_INVALID_VALUE) == "CUDA_ERROR_INVALID_VALUE (1): invalid argument");
  CHECK(explained(CUDA_ERROR_NO_DEVICE) == "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
}

TEST_CASE("success is explained like any other code") {
  CHECK(explained(CUDA_SUCCESS) == "CUDA_SUCCESS (0): no error");
}

TEST_CASE("a code that nobody knows is given as a number, and is no crash") {
  CHECK(explained(static_cast<CUresult>(12345)) == "12345: unknown to this driver");
}

TEST_CASE("explaining a code initialises nothing") {
  explained(CUDA_ERROR_NOT_INITIALIZED);
  int count;
  CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

TEST_CASE("every code that this driver knows is explained, to the last letter; the others are unknown") {
  for (int number = 0; number < 1000; ++number) {
    const auto code = static_cast<CUresult>(number);
    const char *name = nullptr, *meaning = nullptr;
    if (cuGetErrorName(code, &name) == CUDA_SUCCESS && cuGetErrorString(code, &meaning) == CUDA_SUCCESS) {
      REQUIRE(explained(code) == name + (" (" + std::to_string(number) + "): ") + meaning);
    } else {
      REQUIRE(explained(code) == std::to_string(number) + ": unknown to this driver");
    }
  }
}
