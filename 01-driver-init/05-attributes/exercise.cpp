// Find and repair the cause of a failure that only some machines show.
//
// A program multiplies matrices in square tiles of shared memory, and largest_tile() chooses the tile for each device.
// On every machine with one GPU, the program works. On a workstation with two different GPUs, it fails:
//
//   device 0, A100, 166912 bytes of shared memory per block    all products are correct
//   device 1, T4,    65536 bytes of shared memory per block    each launch fails with CUDA_ERROR_INVALID_VALUE
//
// With CUDA_VISIBLE_DEVICES=1, the T4 works too.
#include "common/cu.hpp"

#include <map>

// An attribute of a device. Throws cu::Error if the driver call fails.
int attribute(CUdevice device, CUdevice_attribute which) {
  static std::map<CUdevice_attribute, int> known;  // don't ask the driver twice
  if (const auto found = known.find(which); found != known.end()) return found->second;
  int value = 0;
  CU_THROW(cuDeviceGetAttribute(&value, which, device));
  known[which] = value;
  return value;
}

// The edge of the largest square tile of floats, a multiple of 32, that fits into the shared memory which a block can
// have on this device. Throws cu::Error if a driver call fails.
int largest_tile(CUdevice device) {
  const int bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  int edge = 32;
  while ((edge + 32) * (edge + 32) * static_cast<int>(sizeof(float)) <= bytes) edge += 32;
  return edge;
}
