// CUB's scan and histogram, from a library beside the program that exists only if it was requested:
// make build/04-kernels/24-scan-and-histogram/libcub.so
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <dlfcn.h>

struct Library {
  using Function = CUresult (*)(CUdeviceptr in, CUdeviceptr out, unsigned long long n);
  // scan stores the running sums of n elements; histogram stores 256 counts of n bytes. Both work in the default
  // stream. They are null if there is no such library.
  Function scan = nullptr, histogram = nullptr;

  Library() {
    if (void* library = dlopen(cu::image("libcub.so").c_str(), RTLD_NOW)) {
      scan = reinterpret_cast<Function>(dlsym(library, "scan"));
      histogram = reinterpret_cast<Function>(dlsym(library, "histogram"));
    }
  }
};
