// Rejected with: "explaining a code initialises nothing"
// Names and sentences need no cuInit, and a function that explains an error should not cause another one.
#include <cuda.h>

#include <string>

std::string explained(CUresult code) {
  cuInit(0);
  const std::string number = std::to_string(code);
  const char *name, *meaning;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS) return number + ": unknown to this driver";
  if (cuGetErrorString(code, &meaning) != CUDA_SUCCESS) return number + ": unknown to this driver";
  return std::string(name) + " (" + number + "): " + meaning;
}
