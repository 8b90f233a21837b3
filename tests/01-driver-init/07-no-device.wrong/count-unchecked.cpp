// Rejected with: "a failure of cuDeviceGetCount is reported too"
// Ignores the result of cuDeviceGetCount and treats a failure as a count of 0.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) cuDeviceGetCount(&count);
  why->clear();
  if (result == CUDA_SUCCESS && count > 0) return count;

  if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_SUCCESS) {
    const bool chosen = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
    *why = chosen ? "CUDA_VISIBLE_DEVICES hides every GPU" : "there is no GPU in this machine";
  } else if (result == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the toolkit's stub library was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(result);
  }
  return 0;
}
