// Rejected with: "each call is checked, and the code of the first failure is returned"
// Checks only the calls that are likely to fail and reports success whatever the last call returned.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  char text[100] = "";
  CU_RETURN(cuInit(0));
  CU_RETURN(cuDeviceGet(&device, ordinal));
  cuDeviceGetName(text, sizeof text, device);
  *name = text;
  return CUDA_SUCCESS;
}
