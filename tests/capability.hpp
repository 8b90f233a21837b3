// Skips tests that the device has no instructions for.
#pragma once
#include "common/cu.hpp"
#include "tests/catch.hpp"

// 90 for compute capability 9.0.
inline int compute_capability() {
  CUdevice device;
  int major, minor;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  return 10 * major + minor;
}
#define NEEDS_MMA() \
  if (compute_capability() < 80) SKIP_TEST("mma with bfloat16 needs compute capability 8.0")
#define NEEDS_TMA() \
  if (compute_capability() < 90) SKIP_TEST("the TMA needs compute capability 9.0")
#define NEEDS_WGMMA() \
  if (compute_capability() != 90) SKIP_TEST("wgmma needs compute capability 9.0")
