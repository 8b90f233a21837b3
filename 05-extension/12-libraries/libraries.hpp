// cuBLAS, cuFFT and cuRAND, loaded while the program runs, so that the program also starts on machines where they are
// not installed. Each struct has the functions that this lesson calls, under their documented names. Handles are
// pointers, enumerations are ints, and a CUstream is a cudaStream_t. Sources: the manuals of cuBLAS (cublasSgemm),
// cuFFT (cufftExecC2C) and cuRAND (host API). cuDNN is in cudnn.hpp.
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

// A library cannot be used on this machine, because it is not installed or does not start.
struct Unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A shared library, by the first of its names that the loader finds. It is never unloaded, because it may have
// registered state with the driver.
struct Library {
  void* handle = nullptr;
  std::string file;

  explicit Library(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (handle == nullptr && (handle = dlopen(name, RTLD_NOW)) != nullptr) file = name;
    }
    if (handle == nullptr) throw Unusable(std::string(*names.begin()) + " is not installed");
  }

  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) throw Unusable(file + " has no " + name);
  }
};

// Checks a call that creates a library's handle. If it fails, the library does not work on this machine.
inline void start(const char* call, int status) {
  if (status != 0) throw Unusable(std::string(call) + " returns " + std::to_string(status));
}

// Checks any later call. Each library has its own error codes, and 0 is success in all of them.
inline void check(const char* call, int status) {
  if (status != 0) throw std::runtime_error(std::string(call) + " returns " + std::to_string(status));
}
#define LIB_CHECK(function, ...) check(#function, function(__VA_ARGS__))

// Values 0, 1 and 2 of libraryPropertyType ask for the three parts of a version.
template <class Property>
std::string version_of(Property property) {
  int parts[3] = {};
  for (int which = 0; which < 3; ++which) LIB_CHECK(property, which, &parts[which]);
  return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
}

// cublasSgemm: c = alpha op(a) op(b) + beta c. All matrices are stored column by column. op is 0 (as stored) or 1
// (transposed). op(a) is m x k, op(b) is k x n, and c is m x n. lda, ldb and ldc are the leading dimensions: the
// distance between the starts of two columns.
using Sgemm = int (*)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                      int lda, const float* b, int ldb, const float* beta, float* c, int ldc);

struct Cublas : Library {
  int (*cublasCreate)(void** handle);
  int (*cublasDestroy)(void* handle);
  int (*cublasSetStream)(void* handle, CUstream stream);
  int (*cublasSetWorkspace)(void* handle, void* memory, std::size_t bytes);
  int (*cublasGetProperty)(int which, int* value);
  Sgemm cublasSgemm;

  Cublas() : Library({"libcublas.so.13", "libcublas.so.12"}) {
    find("cublasCreate_v2", cublasCreate);
    find("cublasDestroy_v2", cublasDestroy);
    find("cublasSetStream_v2", cublasSetStream);
    find("cublasSetWorkspace_v2", cublasSetWorkspace);
    find("cublasGetProperty", cublasGetProperty);
    find("cublasSgemm_v2", cublasSgemm);
  }
};

// Complex numbers are pairs of floats. Type 0x29 is complex to complex. Direction -1 is forward, 1 is inverse.
struct Cufft : Library {
  int (*cufftPlan1d)(int* plan, int count, int type, int batches);
  int (*cufftDestroy)(int plan);
  int (*cufftSetStream)(int plan, CUstream stream);
  int (*cufftGetProperty)(int which, int* value);
  int (*cufftExecC2C)(int plan, void* in, void* out, int direction);

  Cufft() : Library({"libcufft.so.12", "libcufft.so.11"}) {
    find("cufftPlan1d", cufftPlan1d);
    find("cufftDestroy", cufftDestroy);
    find("cufftSetStream", cufftSetStream);
    find("cufftGetProperty", cufftGetProperty);
    find("cufftExecC2C", cufftExecC2C);
  }
};

// Generator 161 is Philox 4x32-10. A host generator computes the same numbers on the CPU.
struct Curand : Library {
  int (*curandCreateGenerator)(void** generator, int type);
  int (*curandCreateGeneratorHost)(void** generator, int type);
  int (*curandDestroyGenerator)(void* generator);
  int (*curandSetStream)(void* generator, CUstream stream);
  int (*curandSetPseudoRandomGeneratorSeed)(void* generator, unsigned long long seed);
  int (*curandGenerateUniform)(void* generator, float* numbers, std::size_t count);
  int (*curandGetProperty)(int which, int* value);

  Curand() : Library({"libcurand.so.10"}) {
    find("curandCreateGenerator", curandCreateGenerator);
    find("curandCreateGeneratorHost", curandCreateGeneratorHost);
    find("curandDestroyGenerator", curandDestroyGenerator);
    find("curandSetStream", curandSetStream);
    find("curandSetPseudoRandomGeneratorSeed", curandSetPseudoRandomGeneratorSeed);
    find("curandGenerateUniform", curandGenerateUniform);
    find("curandGetProperty", curandGetProperty);
  }
};
