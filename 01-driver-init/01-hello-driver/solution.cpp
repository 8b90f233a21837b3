// Find out whether this machine's driver is new enough.
#include <cuda.h>

// Returns true if the driver supports CUDA major.minor or newer, for example driver_at_least(12, 8) for CUDA 12.8.
// Returns false if the driver is older or the call fails. The result must not depend on whether there is a GPU.
bool driver_at_least(int major, int minor) {
  int version = 0;
  if (cuDriverGetVersion(&version) != CUDA_SUCCESS) return false;
  return version >= 1000 * major + 10 * minor;
}
