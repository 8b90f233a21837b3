// Rejected with: "each device gets the largest tile that fits on it"
// Hides the symptom: hard-codes the two devices of the report, and fails on the next workstation.
#include "common/cu.hpp"

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  CU_THROW(cuDeviceGetAttribute(&value, which, device));
  return value;
}

int largest_tile(CUdevice device) {
  if (device == 1) return 128;
  const int bytes = attribute(0, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  int edge = 32;
  while ((edge + 32) * (edge + 32) * static_cast<int>(sizeof(float)) <= bytes) edge += 32;
  return edge;
}
