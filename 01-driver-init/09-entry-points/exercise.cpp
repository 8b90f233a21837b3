// Find out since when the driver has a function.
#include "common/cu.hpp"

// The first CUDA version as of which this driver knows the name: 11020 (CUDA 11.2) for "cuMemAllocAsync"; 0 if it does
// not know it at all. The driver has been initialised. Throws cu::Error if it cannot be asked.
int known_since(const char* name) {
  // Your code here.
  (void)name;
  return -1;
}
