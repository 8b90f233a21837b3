// Rejected with: "for the largest number of blocks that fit, the result can be 0; for one more, it is -1"
// The search starts with 1 KiB. If the blocks fit only without shared memory, it returns -1.
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
