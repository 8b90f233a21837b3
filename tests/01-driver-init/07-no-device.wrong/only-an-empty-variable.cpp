// Rejected with: "if the variable is set, it may hide all devices, and the sentence names it"
// Considers only an empty variable. "-1" hides every device too, and so does the number of a device that does not
// exist.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  why->clear();
  if (result == CUDA_SUCCESS && count > 0) return count;
  if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_SUCCESS) {
    const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
    *why = chosen && *chosen == 0 ? "CUDA_VISIBLE_DEVICES hides every GPU" : "there is no GPU in this machine";
  } else if (result == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the toolkit's stub library was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(result);
  }
  return 0;
}
