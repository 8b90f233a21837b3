// Rejected with: "a driver that starts and counts no device has one reason, too"
// Both calls succeed, and it has nothing to say about a count of zero.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
  why->clear();
  if (answer == CUDA_SUCCESS) return count;
  if (answer == CUDA_ERROR_NO_DEVICE) {
    *why = std::getenv("CUDA_VISIBLE_DEVICES") ? "hidden by CUDA_VISIBLE_DEVICES" : "there is no GPU in this machine";
  } else if (answer == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the linker's stub was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(answer);
  }
  return 0;
}
