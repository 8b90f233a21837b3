// Rejected with: "if there are devices, they are counted and *why is empty"
// Leaves the sentence of an earlier failure in *why.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS) return count;
  *why = cu::name(result);
  return 0;
}
