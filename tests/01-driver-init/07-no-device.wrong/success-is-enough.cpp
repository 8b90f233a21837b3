// Rejected with: "a count of zero has a reason too"
// Both calls succeed, and the function gives no reason for a count of zero.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  why->clear();
  if (result == CUDA_SUCCESS) return count;
  if (result == CUDA_ERROR_NO_DEVICE) {
    *why = std::getenv("CUDA_VISIBLE_DEVICES") ? "hidden by CUDA_VISIBLE_DEVICES" : "there is no GPU in this machine";
  } else if (result == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the toolkit's stub library was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(result);
  }
  return 0;
}
