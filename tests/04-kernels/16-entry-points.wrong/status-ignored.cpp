// Rejected with: "an unknown name has no version"
// cuGetProcAddress succeeds whatever it finds. Only the status and the pointer show whether there is a function.
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
