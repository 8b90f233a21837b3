#pragma once
#include "common/cu.hpp"

// An attribute of the current context's device.
inline int attribute(CUdevice_attribute which) {
  CUdevice device;
  int value;
  CU_CHECK(cuCtxGetDevice(&device));
  CU_CHECK(cuDeviceGetAttribute(&value, which, device));
  return value;
}
