// Rejected with: "each call is checked: the code of the first that fails comes back"
// Only the call that can go wrong here is checked; the last one is said to have worked, whatever it answered.
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
