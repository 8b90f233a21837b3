// Rejected with: "hidden devices are laid to the variable"
// Only the empty variable counts as one. "-1" hides every device, too, and so does a device that is not there.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
  why->clear();
  if (answer == CUDA_SUCCESS && count > 0) return count;
  if (answer == CUDA_ERROR_NO_DEVICE || answer == CUDA_SUCCESS) {
    const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
    *why = chosen && *chosen == 0 ? "CUDA_VISIBLE_DEVICES hides every GPU" : "there is no GPU in this machine";
  } else if (answer == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the linker's stub was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(answer);
  }
  return 0;
}
