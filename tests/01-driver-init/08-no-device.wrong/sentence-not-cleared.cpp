// Rejected with: "where there are devices they are counted, and nothing is complained about"
// The sentence of an earlier failure stays, and the caller takes it for this one's.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
  if (answer == CUDA_SUCCESS) return count;
  *why = cu::name(answer);
  return 0;
}
