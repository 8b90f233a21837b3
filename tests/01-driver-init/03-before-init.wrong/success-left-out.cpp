// Rejected with: "success is explained like any other code"
// CUDA_SUCCESS is a code with a name and a meaning; only unknown codes have none.
#include <cuda.h>

#include <string>

std::string explained(CUresult code) {
  if (code == CUDA_SUCCESS) return "";
  const std::string number = std::to_string(code);
  const char *name, *meaning;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS) return number + ": unknown to this driver";
  if (cuGetErrorString(code, &meaning) != CUDA_SUCCESS) return number + ": unknown to this driver";
  return std::string(name) + " (" + number + "): " + meaning;
}
