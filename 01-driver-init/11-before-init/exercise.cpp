// Describe an error code.
#include <cuda.h>

#include <string>

// Returns name, number and description of a code: "CUDA_ERROR_INVALID_VALUE (1): invalid argument".
// If the driver does not know the code: "12345: unknown to this driver".
// May be called at any time, even before cuInit, and does not initialize the driver.
std::string describe(CUresult code) {
  // Your code here.
  (void)code;
  return "";
}
