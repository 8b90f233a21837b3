// Rejected with: "a failure is returned as a code, not thrown"
// CU_THROW needs a caller that catches exceptions. This function promises to return a code.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  char text[100];
  CU_THROW(cuInit(0));
  CU_THROW(cuDeviceGet(&device, ordinal));
  CU_THROW(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
