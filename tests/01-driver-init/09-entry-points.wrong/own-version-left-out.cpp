// Rejected with: "what came with the driver's own version is known, whichever that is"
// The newest functions are the ones that people ask for, and the last version is never tried: < where <= is meant.
#include "common/cu.hpp"

int known_since(const char* name) {
  int own;
  CU_THROW(cuDriverGetVersion(&own));
  for (int version = 2000; version < own; version += 10) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    CU_THROW(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (status == CU_GET_PROC_ADDRESS_SUCCESS) return version;
  }
  return 0;
}
