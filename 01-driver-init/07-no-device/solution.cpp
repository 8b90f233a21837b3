// Find and repair the causes of three misleading messages.
//
// The causes: the result of cuInit was overwritten by that of the next call, which only knows that cuInit has failed;
// nothing cleared *why; and a count of zero was returned like any other count.
#include "common/cu.hpp"

#include <string>

// Returns the number of devices that this program can use. Initializes the driver. Never throws, never ends the
// program. *why becomes empty if there is at least one device. Otherwise it becomes a sentence for the user that
// contains
//   "CUDA_VISIBLE_DEVICES"   if that variable is set and the driver finds no device
//   "no GPU"                 if the driver finds no device and the variable is not set
//   "stub"                   if the stub library was loaded instead of a driver
//   the name of the error    in all other cases, for example "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
int usable_devices(std::string* why) {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  why->clear();
  if (result == CUDA_SUCCESS && count > 0) return count;

  if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_SUCCESS) {
    const bool chosen = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
    *why = chosen ? "CUDA_VISIBLE_DEVICES is set, and may hide every GPU" : "there is no GPU in this machine";
  } else if (result == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the toolkit's stub library was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(result);
  }
  return 0;
}
