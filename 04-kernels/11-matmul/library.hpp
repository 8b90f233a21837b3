// cuBLAS, where it is installed: found when the program runs, never needed. cuBLAS manual, cublasSgemm.
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

struct Cublas {
  using Handle = struct CublasHandle*;
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*sgemm)(Handle, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
               float*, int) = nullptr;
  Handle handle = nullptr;

  Cublas() {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    }
    if (library == nullptr) return;
    create = reinterpret_cast<decltype(create)>(dlsym(library, "cublasCreate_v2"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(library, "cublasDestroy_v2"));
    sgemm = reinterpret_cast<decltype(sgemm)>(dlsym(library, "cublasSgemm_v2"));
    if (create == nullptr || create(&handle) != 0) handle = nullptr;
  }
  ~Cublas() {
    if (handle != nullptr) destroy(handle);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  explicit operator bool() const { return handle != nullptr && sgemm != nullptr; }

  // c = a × b, in floats, without tensor cores (the default). cuBLAS takes columns for rows: it is asked for b × a.
  void multiply(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int n) const {
    const float one = 1, zero = 0;
    sgemm(handle, 0, 0, n, n, n, &one, reinterpret_cast<const float*>(b), n, reinterpret_cast<const float*>(a), n,
          &zero, reinterpret_cast<float*>(c), n);
  }
};
