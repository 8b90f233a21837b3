// Rejected with: "the version is not used if the call fails"
// The variable is used even though the call failed. A result is valid only after CUDA_SUCCESS.
#include <cuda.h>

bool driver_at_least(int major, int minor) {
  int version = 0;
  cuDriverGetVersion(&version);
  return version >= 1000 * major + 10 * minor;
}
