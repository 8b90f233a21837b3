// Say what a code of the driver means.
#include <cuda.h>

#include <string>

// "CUDA_ERROR_INVALID_VALUE (1): invalid argument": the code's name, its number, the driver's sentence.
// A code that the driver does not know: "12345: unknown to this driver".
// It is called at any time, also before cuInit, and changes nothing.
std::string explained(CUresult code) {
  // Your code here.
  (void)code;
  return "";
}
