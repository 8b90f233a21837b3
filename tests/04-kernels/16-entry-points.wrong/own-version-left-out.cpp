// Rejected with: "a function that is as new as the driver is found"
// Never tries the driver's own version: this needs <= instead of <.
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
