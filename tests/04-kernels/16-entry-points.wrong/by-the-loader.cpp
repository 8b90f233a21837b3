// Rejected with: "an exported name with a suffix is unknown"
// dlsym knows the exported names, such as cuMemAlloc_v2, and no versions.
#include "common/cu.hpp"

#include <dlfcn.h>

int known_since(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return dlsym(driver, name) != nullptr ? 2000 : 0;
}
