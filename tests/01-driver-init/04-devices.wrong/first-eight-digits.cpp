// Rejected with: "a UUID that differs in its last byte belongs to no device"
// Compares only the first four bytes. Two devices may have some bytes in common; only the whole UUID is unique.
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
    if (std::memcmp(candidate.bytes, uuid.bytes, 4) == 0) return ordinal;
  }
  return -1;
}
