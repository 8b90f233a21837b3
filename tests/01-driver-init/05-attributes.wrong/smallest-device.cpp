// Rejected with: "each device gets the largest tile that fits on it"
// Hides the symptom: all devices get the tile of the smallest one.
#include "common/cu.hpp"

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  CU_THROW(cuDeviceGetAttribute(&value, which, device));
  return value;
}

int largest_tile(CUdevice device) {
  int bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  int count = 0;
  CU_THROW(cuDeviceGetCount(&count));
  for (CUdevice other = 0; other < count; ++other) {
    const int fits = attribute(other, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if (fits < bytes) bytes = fits;
  }
  int edge = 32;
  while ((edge + 32) * (edge + 32) * static_cast<int>(sizeof(float)) <= bytes) edge += 32;
  return edge;
}
