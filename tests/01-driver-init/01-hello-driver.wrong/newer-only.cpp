// Rejected with: "the driver's own version is new enough"
// "At least" includes the version itself, so this needs >= instead of >.
#include <cuda.h>

bool driver_at_least(int major, int minor) {
  int version = 0;
  if (cuDriverGetVersion(&version) != CUDA_SUCCESS) return false;
  return version > 1000 * major + 10 * minor;
}
