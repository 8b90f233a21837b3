// Find a device by the identifier that never changes.
#include "common/cu.hpp"

#include <cstring>

// Returns the ordinal of the device with this UUID, or -1 if this program cannot see such a device.
// Initializes the driver itself. Throws cu::Error if a driver call fails.
int ordinal_of(const CUuuid& uuid) {
  CU_THROW(cuInit(0));
  int count = 0;
  CU_THROW(cuDeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device;
    CU_THROW(cuDeviceGet(&device, ordinal));
    CUuuid candidate;
    CU_THROW(cuDeviceGetUuid(&candidate, device));
    if (std::memcmp(candidate.bytes, uuid.bytes, sizeof uuid.bytes) == 0) return ordinal;
  }
  return -1;
}
