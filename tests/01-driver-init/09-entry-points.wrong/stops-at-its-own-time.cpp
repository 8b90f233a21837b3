// Rejected with: "what came lately is known, too: the driver's own version is the last one to try"
// The list of versions ended when this was written; drivers go on.
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
