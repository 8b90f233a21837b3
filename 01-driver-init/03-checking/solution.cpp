// Check every call of a function.
#include "common/cu.hpp"

#include <string>

// Stores the name of the device with this ordinal in *name. Initializes the driver itself.
// Returns CUDA_SUCCESS, or the result of the first call that failed; *name is then unchanged.
// Never throws and never ends the program.
CUresult device_name(int ordinal, std::string* name) {
  CU_RETURN(cuInit(0));
  CUdevice device;
  CU_RETURN(cuDeviceGet(&device, ordinal));
  char text[256];
  CU_RETURN(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
