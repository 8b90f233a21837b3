// Rejected with: "describing a code does not initialize the driver"
// Names and descriptions do not need cuInit. A function that describes an error should have no side effects.
#include <cuda.h>

#include <string>

std::string describe(CUresult code) {
  cuInit(0);
  const std::string number = std::to_string(code);
  const char *name, *description;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS) return number + ": unknown to this driver";
  if (cuGetErrorString(code, &description) != CUDA_SUCCESS) return number + ": unknown to this driver";
  return std::string(name) + " (" + number + "): " + description;
}
