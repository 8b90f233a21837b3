// Rejected with: "an earlier major version is old enough, whatever its minor version"
// Compares major and minor separately, so a driver for 13.0 appears too old for 12.8: 0 is less than 8.
#include <cuda.h>

bool driver_at_least(int major, int minor) {
  int version = 0;
  if (cuDriverGetVersion(&version) != CUDA_SUCCESS) return false;
  return version / 1000 >= major && version % 1000 / 10 >= minor;
}
