// Find out in which CUDA version a function first appeared.
#include "common/cu.hpp"

// Returns the first CUDA version in which this driver knows the name, for example 11020 (CUDA 11.2) for
// "cuMemAllocAsync", or 0 if it does not know the name at all. The driver has already been initialized.
// Throws cu::Error if a driver call fails.
int known_since(const char* name) {
  int own = 0;
  CU_THROW(cuDriverGetVersion(&own));
  for (int version = 2000; version <= own; version += 10) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    CU_THROW(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (status == CU_GET_PROC_ADDRESS_SUCCESS) return version;
  }
  return 0;
}
