// Find a device by the name that never changes.
#include "common/cu.hpp"

#include <cstring>

// The ordinal of the device with this UUID, or -1 if this program sees none.
// Initialises the driver itself; throws cu::Error if the driver cannot be asked.
int ordinal_of(const CUuuid& uuid) {
  int count;
  CU_THROW(cuInit(0));
  CU_THROW(cuDeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device;
    CUuuid candidate;
    CU_THROW(cuDeviceGet(&device, ordinal));
    CU_THROW(cuDeviceGetUuid(&candidate, device));
    if (std::memcmp(candidate.bytes, uuid.bytes, sizeof uuid.bytes) == 0) return ordinal;
  }
  return -1;
}
