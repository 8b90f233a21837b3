// Rejected with: "the code is the one that the driver answered"
// The calls are checked, but what the driver said is thrown away: the caller only learns that something failed.
#include "common/cu.hpp"

#include <string>

CUresult device_name(int ordinal, std::string* name) {
  CUdevice device;
  char text[100];
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
      cuDeviceGetName(text, sizeof text, device) != CUDA_SUCCESS) {
    return CUDA_ERROR_UNKNOWN;
  }
  *name = text;
  return CUDA_SUCCESS;
}
