// Rejected with: "where nothing is hidden, the variable is not blamed"
// A sentence that names the usual culprit without looking sends people where nothing is wrong.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
  *why = "";
  if (answer == CUDA_ERROR_NO_DEVICE)
    *why = "no GPU: see CUDA_VISIBLE_DEVICES";
  else if (answer == CUDA_ERROR_STUB_LIBRARY)
    *why = "a stub instead of a driver";
  else if (answer != CUDA_SUCCESS)
    *why = cu::name(answer);
  return count;
}
