// cuBLAS's product of bfloat16. cuBLAS manual, cublasGemmEx.
#pragma once
#include "common/cublas.hpp"

struct Cublas : cu::Cublas {
  int (*gemm)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
              void*, int, int, int, int) = nullptr;

  Cublas() { function(gemm, "cublasGemmEx"); }

  explicit operator bool() const { return handle != nullptr && gemm != nullptr; }

  // c = a × b in bfloat16, added up in floats. cuBLAS takes columns for rows: it is asked for b × a.
  void multiply(const void* a, const void* b, void* c, int n) const {
    constexpr int kBfloat16 = 14, kInFloats = 68, kAnyAlgorithm = -1;  // as library_types.h and cublas_api.h name them
    const float one = 1, zero = 0;
    gemm(handle, 0, 0, n, n, n, &one, b, kBfloat16, n, a, kBfloat16, n, &zero, c, kBfloat16, n, kInFloats,
         kAnyAlgorithm);
  }
};
