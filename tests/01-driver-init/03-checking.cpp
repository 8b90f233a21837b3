// Self-check of 01-driver-init/03-checking: judges the learner's device_name().
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name);

MAY_BE_REFUSED(cuInit, (unsigned int flags), (flags))
MAY_BE_REFUSED(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
MAY_BE_REFUSED(cuDeviceGetName, (char* name, int length, CUdevice device), (name, length, device))

TEST_CASE("the name of the first device is found, and nobody else has to call cuInit") {
  std::string name;
  CHECK(device_name(0, &name) == CUDA_SUCCESS);

  char expected[100];
  CU_CHECK(cuInit(0));
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDeviceGetName(expected, sizeof expected, device));
  CHECK(name == expected);
}

TEST_CASE("a device that does not exist is an error, not the name of another one") {
  std::string name;
  CHECK(device_name(99, &name) != CUDA_SUCCESS);
  CHECK(device_name(-1, &name) != CUDA_SUCCESS);
}

TEST_CASE("the code is the one that the driver answered") {
  std::string name;
  CHECK(device_name(99, &name) == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("a failure comes back as a code: nothing is thrown") {
  std::string name;
  CHECK_NOTHROW(device_name(99, &name));
}

TEST_CASE("after a failure the name is what it was before") {
  std::string name = "untouched";
  CHECK_NOTHROW(device_name(99, &name));
  CHECK(name == "untouched");
}

TEST_CASE("each call is checked: the code of the first that fails comes back") {
  for (const char* call : {"cuInit", "cuDeviceGet", "cuDeviceGetName"}) {
    std::string name = "untouched";
    const Refusal refusal(call);
    const CUresult answer = device_name(0, &name);
    INFO(refusal.told() << ", and device_name answered " << cu::name(answer));
    if (!refusal.met()) continue;
    CHECK(answer == kRefused);
    CHECK(name == "untouched");
  }
}
