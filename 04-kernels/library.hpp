// NVIDIA's library cublasLt, if it is installed: it returns a list of algorithms for a product, which can be timed.
// cuBLAS manual, "Using the cublasLt API". The library is found when the program runs.
#pragma once
#include "04-kernels/matrices.hpp"
#include "common/cu.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <vector>

class CublasLt {
 public:
  // As in the library's header: an algorithm for one product, and what it needs.
  struct Algorithm {
    unsigned long long opaque[8];
    std::size_t workspace;
    int status;
    float waves;
    int reserved[4];
  };

  CublasLt() {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
    }
    const auto create = function<int (*)(void**)>("cublasLtCreate");
    matmul_ = function<Matmul>("cublasLtMatmul");
    if (create == nullptr || matmul_ == nullptr || create(&handle_) != 0) return;
    constexpr int kInFloats = 68, kFloat = 0, kWorkspaceBytes = 1;  // as the library's headers name them
    const std::size_t bytes = kWorkspace;
    if (function<int (*)(void**, int, int)>("cublasLtMatmulDescCreate")(&operation_, kInFloats, kFloat) == 0 &&
        function<int (*)(void**)>("cublasLtMatmulPreferenceCreate")(&preference_) == 0 &&
        function<int (*)(void*, int, const void*, std::size_t)>("cublasLtMatmulPreferenceSetAttribute")(
            preference_, kWorkspaceBytes, &bytes, sizeof bytes) == 0) {
      workspace_ = cu::Memory(kWorkspace);
    }
  }
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // Returns up to 32 algorithms for c = a × b in bfloat16, and none if there is no library. Describes these matrices
  // for multiply(). The library's matrices are stored by columns, so it computes the transpose of b times that of a.
  std::vector<Algorithm> algorithms(Sides sides, bool transposed) {
    if (workspace_.address == 0) return {};
    constexpr int kBfloat16 = 14, kMost = 32, kTransposeFirst = 3;
    const auto layout = [&](void*& to, int rows, int columns) {  // its columns are contiguous
      return function<int (*)(void**, int, std::size_t, std::size_t, std::ptrdiff_t)>("cublasLtMatrixLayoutCreate")(
          &to, kBfloat16, rows, columns, rows);
    };
    const int transpose = transposed ? 1 : 0;
    std::vector<Algorithm> found(kMost);
    int count = 0;
    if (function<int (*)(void*, int, const void*, std::size_t)>("cublasLtMatmulDescSetAttribute")(
            operation_, kTransposeFirst, &transpose, sizeof transpose) != 0 ||
        (transposed ? layout(b_, sides.inner, sides.columns) : layout(b_, sides.columns, sides.inner)) != 0 ||
        layout(a_, sides.inner, sides.rows) != 0 || layout(c_, sides.columns, sides.rows) != 0 ||
        function<int (*)(void*, void*, void*, void*, void*, void*, void*, int, Algorithm*, int*)>(
            "cublasLtMatmulAlgoGetHeuristic")(handle_, operation_, b_, a_, c_, c_, preference_, kMost, found.data(),
                                              &count) != 0) {
      count = 0;
    }
    found.resize(count);
    return found;
  }

  // Returns whether the product was launched.
  bool multiply(const Matrices& matrices, const Algorithm& algorithm, CUstream stream = nullptr) const {
    return multiply(matrices.a(), matrices.b(), matrices.c(), algorithm, stream);
  }
  bool multiply(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, const Algorithm& algorithm,
                CUstream stream = nullptr) const {
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    const float one = 1, zero = 0;
    return matmul_(handle_, operation_, &one, pointer(b), b_, pointer(a), a_, &zero, pointer(c), c_, pointer(c), c_,
                   algorithm.opaque, pointer(workspace_.address), kWorkspace, stream) == 0;
  }

 private:
  using Matmul = int (*)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*,
                         void*, void*, void*, const void*, void*, std::size_t, CUstream);
  static constexpr std::size_t kWorkspace = std::size_t{64} << 20;

  template <class Function>
  Function function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library_, name));
  }

  void *library_ = nullptr, *handle_ = nullptr, *operation_ = nullptr, *preference_ = nullptr;
  void *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;  // descriptions of the matrices
  Matmul matmul_ = nullptr;
  cu::Memory workspace_;
};
