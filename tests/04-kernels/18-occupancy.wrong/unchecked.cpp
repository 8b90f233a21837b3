// Rejected with: "every call is checked"
// A failed call looks like a device on which no block fits.
#include "common/cu.hpp"

int largest_shared(CUfunction kernel, int threads, int blocks) {
  CUdevice device = 0;
  int most = 0, fit = 0;
  cuCtxGetDevice(&device);
  cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  for (int bytes = most / 1024 * 1024; bytes >= 0; bytes -= 1024) {
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, bytes);
    if (fit >= blocks) return bytes;
  }
  return -1;
}
