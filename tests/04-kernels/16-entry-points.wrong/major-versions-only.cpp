// Rejected with: "stream-ordered allocation appeared in CUDA 11.2"
// Tries only major versions. New functions also appear in minor versions.
#include "common/cu.hpp"

int known_since(const char* name) {
  int own;
  CU_THROW(cuDriverGetVersion(&own));
  for (int version = 2000; version <= own; version += 1000) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    CU_THROW(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (status == CU_GET_PROC_ADDRESS_SUCCESS) return version;
  }
  return 0;
}
