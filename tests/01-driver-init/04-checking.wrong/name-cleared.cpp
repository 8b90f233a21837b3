// Rejected with: "after a failure the name is what it was before"
// The caller's string is emptied before anybody knows whether there will be a new one.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  char text[100];
  name->clear();
  CU_RETURN(cuInit(0));
  CU_RETURN(cuDeviceGet(&device, ordinal));
  CU_RETURN(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
