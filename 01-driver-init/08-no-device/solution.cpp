// Say how many GPUs there are to work on, and if there are none, why.
#include "common/cu.hpp"

#include <string>

// The number of devices that this program can use. Initialises the driver; never throws, never ends the program.
// *why is empty if there is one at least; else it is a sentence for the user, with in it
//   "CUDA_VISIBLE_DEVICES"   where that variable is set, and the driver finds no device
//   "no GPU"                 where the driver finds no device and the variable is not set
//   "stub"                   where the linker's stub was loaded instead of a driver
//   the code's name          in all other cases: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", for example
int usable_devices(std::string* why) {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
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
