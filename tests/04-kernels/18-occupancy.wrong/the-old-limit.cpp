// Rejected with: "a single block may have more than 48 KiB"
// Assumes the default limit of 48 KiB, but this kernel's limit has been raised.
#include "common/cu.hpp"

#include <algorithm>

int largest_shared(CUfunction kernel, int threads, int blocks) {
  CUdevice device;
  CU_THROW(cuCtxGetDevice(&device));
  auto ask = [device](CUdevice_attribute which) {
    int value;
    CU_THROW(cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  int fit;
  for (int bytes = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK); bytes >= 0; bytes -= 1024) {
    CU_THROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, bytes));
    if (fit >= blocks) return bytes;
  }
  return -1;
}
