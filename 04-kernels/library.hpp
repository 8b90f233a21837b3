// NVIDIA's library cublasLt, if it is installed: it returns a list of algorithms for a product, which can be timed.
// cuBLAS manual, "Using the cublasLt API". The library is found when the program runs.
#pragma once
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

  // Returns up to 32 algorithms for c = a × b, n × n elements in bfloat16, and none if there is no library.
  std::vector<Algorithm> algorithms(int n) {
    if (workspace_.address == 0) return {};
    constexpr int kBfloat16 = 14, kMost = 32;
    std::vector<Algorithm> found(kMost);
    int count = 0;
    if (function<int (*)(void**, int, std::size_t, std::size_t, std::ptrdiff_t)>("cublasLtMatrixLayoutCreate")(
            &layout_, kBfloat16, n, n, n) != 0 ||
        function<int (*)(void*, void*, void*, void*, void*, void*, void*, int, Algorithm*, int*)>(
            "cublasLtMatmulAlgoGetHeuristic")(handle_, operation_, layout_, layout_, layout_, layout_, preference_,
                                              kMost, found.data(), &count) != 0) {
      count = 0;
    }
    found.resize(count);
    return found;
  }

  // Returns whether the product was launched. The library's matrices are stored by columns, so it computes b × a.
  bool multiply(const void* a, const void* b, void* c, const Algorithm& algorithm) const {
    const float one = 1, zero = 0;
    return matmul_(handle_, operation_, &one, b, layout_, a, layout_, &zero, c, layout_, c, layout_, algorithm.opaque,
                   reinterpret_cast<void*>(workspace_.address), kWorkspace, nullptr) == 0;
  }

 private:
  using Matmul = int (*)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*,
                         void*, void*, void*, const void*, void*, std::size_t, CUstream);
  static constexpr std::size_t kWorkspace = std::size_t{64} << 20;

  template <class Function>
  Function function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library_, name));
  }

  void *library_ = nullptr, *handle_ = nullptr, *operation_ = nullptr, *preference_ = nullptr, *layout_ = nullptr;
  Matmul matmul_ = nullptr;
  cu::Memory workspace_;
};
