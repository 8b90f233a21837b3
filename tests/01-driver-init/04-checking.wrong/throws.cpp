// Rejected with: "a failure comes back as a code: nothing is thrown"
// CU_THROW is for callers that can catch; this function's type promises an answer.
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
