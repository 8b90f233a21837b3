// Check each of several calls.
#include "common/cu.hpp"

#include <string>

// Writes the name of device number `ordinal` to *name. Initialises the driver itself.
// Answers CUDA_SUCCESS, or what the first failing call answered; then *name is as it was before.
// Never throws, never ends the program.
CUresult device_name(int ordinal, std::string* name) {
  // Your code here.
  (void)ordinal;
  (void)name;
  return CUDA_ERROR_NOT_SUPPORTED;
}
