// Rejected with: "a driver that starts and then does not count says why, too"
// A driver that has started is not asked twice; what it does not count is taken for 0.
#include "common/cu.hpp"

#include <string>

int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) cuDeviceGetCount(&count);
  why->clear();
  if (answer == CUDA_SUCCESS && count > 0) return count;

  if (answer == CUDA_ERROR_NO_DEVICE || answer == CUDA_SUCCESS) {
    const bool chosen = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
    *why = chosen ? "CUDA_VISIBLE_DEVICES hides every GPU" : "there is no GPU in this machine";
  } else if (answer == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the linker's stub was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(answer);
  }
  return 0;
}
