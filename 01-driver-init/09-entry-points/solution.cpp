// Find out since when the driver has a function.
#include "common/cu.hpp"

// The first CUDA version as of which this driver knows the name: 11020 (CUDA 11.2) for "cuMemAllocAsync"; 0 if it does
// not know it at all. The driver has been initialised. Throws cu::Error if it cannot be asked.
int known_since(const char* name) {
  int own;
  CU_THROW(cuDriverGetVersion(&own));
  for (int version = 2000; version <= own; version += 10) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status;
    CU_THROW(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    if (status == CU_GET_PROC_ADDRESS_SUCCESS) return version;
  }
  return 0;
}
