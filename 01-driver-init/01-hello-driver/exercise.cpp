// Ask whether this machine's driver is new enough.
#include <cuda.h>

// True if the driver speaks CUDA major.minor or newer; false if it is older, or if it cannot be asked.
// CUDA 12.8 is driver_at_least(12, 8). Whether there is a GPU does not matter.
bool driver_at_least(int major, int minor) {
  // Your code here.
  (void)major;
  (void)minor;
  return false;
}
