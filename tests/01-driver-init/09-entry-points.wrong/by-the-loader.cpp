// Rejected with: "a name is given without its suffix"
// dlsym knows names as they are exported, cuMemAlloc_v2 among them, and no versions.
#include "common/cu.hpp"

#include <dlfcn.h>

int known_since(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return dlsym(driver, name) != nullptr ? 2000 : 0;
}
