// Rejected with: "a failed driver call throws cu::Error, and the next call tries again"
// Removes the cache, but replaces a failed call by a guess. The caller never learns of the failure.
#include "common/cu.hpp"

int largest_tile(CUdevice device) {
  int bytes = 0;
  if (cuDeviceGetAttribute(&bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device) != CUDA_SUCCESS) {
    bytes = 49152;
  }
  int edge = 32;
  while ((edge + 32) * (edge + 32) * static_cast<int>(sizeof(float)) <= bytes) edge += 32;
  return edge;
}
