// Rejected with: "a UUID is bytes and no text: it does not end at a zero"
// strncmp stops at the first zero byte, and takes two UUIDs for one that differ behind it.
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
