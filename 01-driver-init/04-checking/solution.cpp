// Check each of several calls.
#include "common/cu.hpp"

#include <string>

// Writes the name of device number `ordinal` to *name. Initialises the driver itself.
// Answers CUDA_SUCCESS, or what the first failing call answered; then *name is as it was before.
// Never throws, never ends the program.
CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  char text[100];
  CU_RETURN(cuInit(0));
  CU_RETURN(cuDeviceGet(&device, ordinal));
  CU_RETURN(cuDeviceGetName(text, sizeof text, device));
  *name = text;
  return CUDA_SUCCESS;
}
