// CUB's scan, from a library beside the program that is only there if it was asked for:
//   make build/04-kernels/13-scan-and-histogram/libcub.so
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <dlfcn.h>

struct Library {
  // The sums up to each of n numbers at `in`, to `out`, in the default stream; null if there is no such library.
  CUresult (*scan)(CUdeviceptr in, CUdeviceptr out, unsigned long long n) = nullptr;

  Library() {
    if (void* library = dlopen(cu::image("libcub.so").c_str(), RTLD_NOW)) {
      scan = reinterpret_cast<decltype(scan)>(dlsym(library, "scan"));
    }
  }
};
