// Find and repair the causes of three misleading messages.
//
// A status page shows for each machine how many GPUs are usable, and the sentence in *why. Its users complain:
//
//   "Whatever is wrong, it says 'the driver does not start: CUDA_ERROR_NOT_INITIALIZED'. A reinstalled driver did not
//    help. In the end, it was a hidden GPU on one machine, and an outdated kernel module on another."
//   "Since we repaired the machine, it says 4 GPUs. But the old sentence is still there."
//   "A driver was installed and the machine had no GPU. The page showed 0, and no reason."
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
  result = cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS) return count;

  if (result == CUDA_ERROR_NO_DEVICE) {
    const bool chosen = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
    *why = chosen ? "CUDA_VISIBLE_DEVICES is set, and may hide every GPU" : "there is no GPU in this machine";
  } else if (result == CUDA_ERROR_STUB_LIBRARY) {
    *why = "the toolkit's stub library was loaded instead of a driver";
  } else {
    *why = std::string("the driver does not start: ") + cu::name(result);
  }
  return 0;
}
