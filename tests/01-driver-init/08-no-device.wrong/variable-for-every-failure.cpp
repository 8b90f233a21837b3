// Rejected with: "any other failure is given by its own name"
// Where the variable is set, it is told of, whatever the driver answered.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
  why->clear();
  if (answer == CUDA_SUCCESS && count > 0) return count;
  if (answer == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the linker's stub was loaded instead of a driver";
  } else if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) {
    *why = "CUDA_VISIBLE_DEVICES hides every GPU";
  } else if (answer == CUDA_ERROR_NO_DEVICE || answer == CUDA_SUCCESS) {
    *why = "there is no GPU in this machine";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(answer);
  }
  return 0;
}
