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
  // Your code here.
  (void)why;
  return -1;
}
