// Rejected with: "a name that the driver does not know has no version"
// The call itself succeeds whatever it finds: what was found stands in the status, and in the pointer.
#include "common/cu.hpp"

int known_since(const char* name) {
  int own;
  CU_THROW(cuDriverGetVersion(&own));
  for (int version = 2000; version <= own; version += 10) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    if (cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status) == CUDA_SUCCESS) return version;
  }
  return 0;
}
