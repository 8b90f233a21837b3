// Rejected with: "the caller gets the code that the driver returned"
// Checks the calls but discards their results: the caller only learns that something failed.
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
