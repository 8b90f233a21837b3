// CUB's sums, from a library beside the program that exists only if it was requested:
// make build/04-kernels/20-reduction/libcub.so
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <dlfcn.h>

struct Library {
  using Sum = CUresult (*)(CUdeviceptr in, CUdeviceptr sum, unsigned long long n);
  // Each adds n elements at `in` into *sum, in the default stream; null if there is no such library.
  Sum unsigned_sum = nullptr, float_sum = nullptr;

  Library() {
    if (void* library = dlopen(cu::image("libcub.so").c_str(), RTLD_NOW)) {
      unsigned_sum = reinterpret_cast<Sum>(dlsym(library, "unsigned_sum"));
      float_sum = reinterpret_cast<Sum>(dlsym(library, "float_sum"));
    }
  }
};
