// Rejected with: "any other failure is given by its own name"
// cuInit's answer is thrown away, and the next call knows only that nobody initialised.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  cuInit(0);
  const CUresult answer = cuDeviceGetCount(&count);
  *why = "";
  if (answer != CUDA_SUCCESS) *why = std::string("no GPU, or a stub, or CUDA_VISIBLE_DEVICES: ") + cu::name(answer);
  return count;
}
