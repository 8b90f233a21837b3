// Rejected with: "an unknown code is described by its number and does not crash"
// For an unknown code, the driver stores a null pointer and returns an error, which this function ignores.
#include <cuda.h>

#include <string>

std::string describe(CUresult code) {
  const char *name, *description;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &description);
  return std::string(name) + " (" + std::to_string(code) + "): " + description;
}
