// Rejected with: "of two devices, each is found"
// It knows whether the UUID is the first device's, and looks at no other.
#include "common/cu.hpp"

#include <cstring>

int ordinal_of(const CUuuid& uuid) {
  CUdevice device;
  CUuuid candidate;
  CU_THROW(cuInit(0));
  CU_THROW(cuDeviceGet(&device, 0));
  CU_THROW(cuDeviceGetUuid(&candidate, device));
  return std::memcmp(candidate.bytes, uuid.bytes, sizeof uuid.bytes) == 0 ? 0 : -1;
}
