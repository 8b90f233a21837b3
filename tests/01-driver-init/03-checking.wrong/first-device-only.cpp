// Rejected with: "a long name is not truncated, and each device has its own"
// Validates the ordinal, then always returns the name of the first device.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  int count;
  char text[100];
  CU_RETURN(cuInit(0));
  CU_RETURN(cuDeviceGetCount(&count));
  if (ordinal < 0 || ordinal >= count) return CUDA_ERROR_INVALID_DEVICE;
  CU_RETURN(cuDeviceGet(&device, 0));
  CU_RETURN(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
