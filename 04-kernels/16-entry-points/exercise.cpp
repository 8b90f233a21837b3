// Find out in which CUDA version a function first appeared.
#include "common/cu.hpp"

// Returns the first CUDA version in which this driver knows the name, for example 11020 (CUDA 11.2) for
// "cuMemAllocAsync", or 0 if it does not know the name at all. The driver has already been initialized.
// Throws cu::Error if a driver call fails.
int known_since(const char* name) {
  // Your code here.
  (void)name;
  return -1;
}
