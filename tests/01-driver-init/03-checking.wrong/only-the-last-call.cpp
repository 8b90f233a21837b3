// Rejected with: "a device that does not exist is an error, not the name of another device"
// cuDeviceGet fails unnoticed, and the name of device 0 is returned as the name of device 99.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device = 0;
  char text[100];
  cuInit(0);
  cuDeviceGet(&device, ordinal);
  CU_RETURN(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
