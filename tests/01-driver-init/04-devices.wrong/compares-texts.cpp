// Rejected with: "a zero byte does not end a UUID"
// strncmp stops at the first zero byte, so two UUIDs that differ only after it appear equal.
#include "common/cu.hpp"

#include <cstring>

int ordinal_of(const CUuuid& uuid) {
  int count;
  CU_THROW(cuInit(0));
  CU_THROW(cuDeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device;
    CUuuid candidate;
    CU_THROW(cuDeviceGet(&device, ordinal));
    CU_THROW(cuDeviceGetUuid(&candidate, device));
    if (std::strncmp(candidate.bytes, uuid.bytes, sizeof uuid.bytes) == 0) return ordinal;
  }
  return -1;
}
