// Rejected with: "two and four blocks fit, and would not fit with more memory each"
// Divides the multiprocessor's memory by the blocks, but forgets the kilobyte that the system reserves for each.
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
  CU_THROW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, 0));
  if (fit < blocks) return -1;
  const int share = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / blocks;
  return std::min(share, ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)) / 1024 * 1024;
}
