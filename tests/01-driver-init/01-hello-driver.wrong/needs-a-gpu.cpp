// Rejected with: "a driver that finds no GPU still reports its version"
// cuInit fails on a machine with a driver but no GPU, and the version does not need it.
#include <cuda.h>

bool driver_at_least(int major, int minor) {
  int version = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDriverGetVersion(&version) != CUDA_SUCCESS) return false;
  return version >= 1000 * major + 10 * minor;
}
