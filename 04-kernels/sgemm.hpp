// cuBLAS's product of floats. cuBLAS manual, cublasSgemm.
#pragma once
#include "common/cublas.hpp"

struct Cublas : cu::Cublas {
  int (*sgemm)(Handle, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
               float*, int) = nullptr;

  Cublas() { function(sgemm, "cublasSgemm_v2"); }

  explicit operator bool() const { return handle != nullptr && sgemm != nullptr; }

  // c = a × b, in floats, without tensor cores (the default). cuBLAS stores matrices by columns, so it computes b × a.
  void multiply(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int n) const {
    const float one = 1, zero = 0;
    sgemm(handle, 0, 0, n, n, n, &one, reinterpret_cast<const float*>(b), n, reinterpret_cast<const float*>(a), n,
          &zero, reinterpret_cast<float*>(c), n);
  }
};
