// Rejected with: "each of two devices is found"
// Compares the UUID with that of the first device only.
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
