// Rejected with: "any other failure is reported by its own name"
// Blames the variable whenever it is set, whatever the driver returned.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  why->clear();
  if (result == CUDA_SUCCESS && count > 0) return count;
  if (result == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the toolkit's stub library was loaded instead of a driver";
  } else if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) {
    *why = "CUDA_VISIBLE_DEVICES hides every GPU";
  } else if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_SUCCESS) {
    *why = "there is no GPU in this machine";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(result);
  }
  return 0;
}
