// Rejected with: "a driver that cannot be asked is not new enough, whatever it has written"
// What a call has written counts only if it answered CUDA_SUCCESS.
#include <cuda.h>

bool driver_at_least(int major, int minor) {
  int version = 0;
  cuDriverGetVersion(&version);
  return version >= 1000 * major + 10 * minor;
}
