// cuBLAS, where it is installed: found when the program runs, never needed. cuBLAS manual, cublasGemmEx.
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

struct Cublas {
  using Handle = struct CublasHandle*;
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*gemm)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
              void*, int, int, int, int) = nullptr;
  Handle handle = nullptr;

  Cublas() {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    }
    if (library == nullptr) return;
    create = reinterpret_cast<decltype(create)>(dlsym(library, "cublasCreate_v2"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(library, "cublasDestroy_v2"));
    gemm = reinterpret_cast<decltype(gemm)>(dlsym(library, "cublasGemmEx"));
    if (create == nullptr || create(&handle) != 0) handle = nullptr;
  }
  ~Cublas() {
    if (handle != nullptr) destroy(handle);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  explicit operator bool() const { return handle != nullptr && gemm != nullptr; }

  // c = a × b in bfloat16, added up in floats. cuBLAS takes columns for rows: it is asked for b × a.
  void multiply(const void* a, const void* b, void* c, int n) const {
    constexpr int kBfloat16 = 14, kInFloats = 68, kAnyAlgorithm = -1;  // as library_types.h and cublas_api.h name them
    const float one = 1, zero = 0;
    gemm(handle, 0, 0, n, n, n, &one, b, kBfloat16, n, a, kBfloat16, n, &zero, c, kBfloat16, n, kInFloats,
         kAnyAlgorithm);
  }
};
