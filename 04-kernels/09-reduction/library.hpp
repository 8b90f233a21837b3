// CUB's sum, from a library beside the program that is only there if it was asked for: make
// build/04-kernels/09-reduction/libcub.so
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <dlfcn.h>

struct Library {
  // Adds up n numbers at `in` into *sum, in the default stream; null if there is no such library.
  CUresult (*sum)(CUdeviceptr in, CUdeviceptr sum, unsigned long long n) = nullptr;

  Library() {
    if (void* library = dlopen(cu::image("libcub.so").c_str(), RTLD_NOW)) {
      sum = reinterpret_cast<decltype(sum)>(dlsym(library, "sum"));
    }
  }
};
