// Rejected with: "as many blocks as fit at all have what is left, which may be nothing; one more has not"
// It begins with one KiB: where blocks fit with none only, it says that they do not.
#include "common/cu.hpp"

int largest_shared(CUfunction kernel, int threads, int blocks) {
  CUdevice device;
  int most, fit, found = -1;
  CU_THROW(cuCtxGetDevice(&device));
  CU_THROW(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  for (int bytes = 1024; bytes <= most; bytes += 1024) {
    CU_THROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, bytes));
    if (fit >= blocks) found = bytes;
  }
  return found;
}
