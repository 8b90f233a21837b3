// Rejected with: "a driver that finds no GPU can be asked, too"
// The version needs no cuInit, and cuInit fails where there is a driver and no GPU.
#include <cuda.h>

bool driver_at_least(int major, int minor) {
  int version = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDriverGetVersion(&version) != CUDA_SUCCESS) return false;
  return version >= 1000 * major + 10 * minor;
}
