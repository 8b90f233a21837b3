// Rejected with: "if the variable is not set, the sentence does not name it"
// Names the usual cause without looking at the variable, and sends users on a false trail.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  *why = "";
  if (result == CUDA_ERROR_NO_DEVICE)
    *why = "no GPU: see CUDA_VISIBLE_DEVICES";
  else if (result == CUDA_ERROR_STUB_LIBRARY)
    *why = "a stub instead of a driver";
  else if (result != CUDA_SUCCESS)
    *why = cu::name(result);
  return count;
}
