// Rejected with: "recent functions are found too"
// Stops at the version that was the newest when the code was written.
#include "common/cu.hpp"

int known_since(const char* name) {
  for (int version = 2000; version <= 12000; version += 10) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    CU_THROW(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (status == CU_GET_PROC_ADDRESS_SUCCESS) return version;
  }
  return 0;
}
