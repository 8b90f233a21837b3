// Rejected with: "the sentence names the stub library"
// Reports every failure as "no GPU" and withholds the code that would tell the user what to do.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  *why = "";
  if (cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS) return count;
  *why = std::getenv("CUDA_VISIBLE_DEVICES") ? "no GPU: CUDA_VISIBLE_DEVICES" : "no GPU";
  return 0;
}
