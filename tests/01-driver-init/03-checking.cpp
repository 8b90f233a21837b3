// Checks the exercise of 01-driver-init/03-checking.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <string>
#include <utility>

CUresult device_name(int ordinal, std::string* name);

MAY_BE_REFUSED(cuInit, (unsigned int flags), (flags))
namespace {

// The names of two made-up devices. While the first is empty, the real driver is used.
std::string names[2];

}  // namespace

// The driver calls of the exercise end up in these functions.
CUresult CUDAAPI cuDeviceGetCount(int* count) {
  if (names[0].empty()) return DRIVERS(cuDeviceGetCount)(count);
  *count = 2;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  if (Refusal::meets("cuDeviceGet")) return kRefused;
  if (names[0].empty()) return DRIVERS(cuDeviceGet)(device, ordinal);
  if (ordinal < 0 || ordinal > 1) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  if (Refusal::meets("cuDeviceGetName")) return kRefused;
  if (names[0].empty()) return DRIVERS(cuDeviceGetName)(name, length, device);
  if (name == nullptr || length < 1) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device > 1) return CUDA_ERROR_INVALID_DEVICE;
  name[names[device].copy(name, length - 1)] = 0;  // truncated, as a driver does
  return CUDA_SUCCESS;
}

TEST_CASE("the function finds the name of the first device and calls cuInit itself") {
  std::string name;
  CHECK(device_name(0, &name) == CUDA_SUCCESS);

  char expected[100];
  CU_CHECK(cuInit(0));
  CUdevice device;
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDeviceGetName(expected, sizeof expected, device));
  CHECK(name == expected);
}

TEST_CASE("a device that does not exist is an error, not the name of another device") {
  std::string name;
  CHECK(device_name(99, &name) != CUDA_SUCCESS);
  CHECK(device_name(-1, &name) != CUDA_SUCCESS);
}

TEST_CASE("the caller gets the code that the driver returned") {
  std::string name;
  CHECK(device_name(99, &name) == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("a failure is returned as a code, not thrown") {
  std::string name;
  CHECK_NOTHROW(device_name(99, &name));
}

TEST_CASE("after a failure, the name is unchanged") {
  std::string name = "untouched";
  CHECK_NOTHROW(device_name(99, &name));
  CHECK(name == "untouched");
}

TEST_CASE("a long name is not truncated, and each device has its own") {
  names[0] = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition";
  names[1] = "NVIDIA T400 4GB";
  std::string found[2];
  const bool both_succeeded = device_name(0, &found[0]) == CUDA_SUCCESS && device_name(1, &found[1]) == CUDA_SUCCESS;
  const std::string expected[2] = {std::exchange(names[0], ""), std::exchange(names[1], "")};
  CHECK(both_succeeded);
  CHECK(found[0] == expected[0]);
  CHECK(found[1] == expected[1]);
}

TEST_CASE("each call is checked, and the code of the first failure is returned") {
  for (const char* call : {"cuInit", "cuDeviceGet", "cuDeviceGetName"}) {
    std::string name = "untouched";
    const Refusal refusal(call);
    const CUresult result = device_name(0, &name);
    INFO(refusal.message() << ", and device_name returned " << cu::name(result));
    if (!refusal.met()) continue;
    CHECK(result == kRefused);
    CHECK(name == "untouched");
  }
}
