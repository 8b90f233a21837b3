// How fast can a device's memory be at best?
#include "common/cu.hpp"

// The peak bandwidth of the device's memory in bytes per second: the memory moves one bus width of bits twice in each
// cycle of its clock. Throws cu::Error if the driver does not answer.
double peak_bandwidth(CUdevice device) {
  // Your code here.
  (void)device;
  return 0;
}
