// Rejected with: "success is described like any other code"
// CUDA_SUCCESS is a code with a name and a description like the others.
#include <cuda.h>

#include <string>

std::string describe(CUresult code) {
  if (code == CUDA_SUCCESS) return "";
  const std::string number = std::to_string(code);
  const char *name, *description;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS) return number + ": unknown to this driver";
  if (cuGetErrorString(code, &description) != CUDA_SUCCESS) return number + ": unknown to this driver";
  return std::string(name) + " (" + number + "): " + description;
}
