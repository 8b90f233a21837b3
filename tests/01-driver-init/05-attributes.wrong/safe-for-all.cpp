// Rejected with: "each device gets the largest tile that fits on it"
// Hides the symptom: the tile that fits on every GPU wastes most of the A100's shared memory.
#include "common/cu.hpp"

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  CU_THROW(cuDeviceGetAttribute(&value, which, device));
  return value;
}

int largest_tile(CUdevice device) {
  const int bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  int edge = 32;
  while ((edge + 32) * (edge + 32) * static_cast<int>(sizeof(float)) <= bytes) edge += 32;
  return edge;
}
