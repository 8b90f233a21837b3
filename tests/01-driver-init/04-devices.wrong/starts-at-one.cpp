// Rejected with: "every device is found by its UUID"
// Ordinals run from 0 to count - 1. This loop never looks at the first device.
#include "common/cu.hpp"

#include <cstring>

int ordinal_of(const CUuuid& uuid) {
  int count;
  CU_THROW(cuInit(0));
  CU_THROW(cuDeviceGetCount(&count));
  for (int ordinal = 1; ordinal < count; ++ordinal) {
    CUdevice device;
    CUuuid candidate;
    CU_THROW(cuDeviceGet(&device, ordinal));
    CU_THROW(cuDeviceGetUuid(&candidate, device));
    if (std::memcmp(candidate.bytes, uuid.bytes, sizeof uuid.bytes) == 0) return ordinal;
  }
  return -1;
}
