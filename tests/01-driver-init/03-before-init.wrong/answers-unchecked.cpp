// Rejected with: "a code that nobody knows is given as a number, and is no crash"
// For an unknown code the driver writes a null pointer and answers an error that nobody looks at here.
#include <cuda.h>

#include <string>

std::string explained(CUresult code) {
  const char *name, *meaning;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &meaning);
  return std::string(name) + " (" + std::to_string(code) + "): " + meaning;
}
