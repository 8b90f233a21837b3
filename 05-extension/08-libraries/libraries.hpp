// Four libraries that are found when the program runs, never needed: one file each, and of its functions those that
// this lesson calls, under their documented names. Handles are pointers, enumerations are ints; a CUstream is a
// cudaStream_t. Sources: the manuals of cuBLAS (cublasSgemm), cuFFT (cufftExecC2C), cuRAND (host API) and cuDNN (legacy
// API).
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

// Why a library cannot be used on this machine: it is not here, or does not start.
struct Unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A shared library by the first of its names that the loader finds. It stays loaded: libraries that keep state for a
// driver do not take being unloaded well.
struct Library {
  void* handle = nullptr;
  std::string file;

  explicit Library(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (handle == nullptr && (handle = dlopen(name, RTLD_NOW)) != nullptr) file = name;
    }
    if (handle == nullptr) throw Unusable(std::string(*names.begin()) + " is not here");
  }

  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) throw Unusable(file + " has no " + name);
  }
};

// A call that creates a library's handle: where that fails, the library does not work here, and says so by a code.
inline void start(const char* call, int status) {
  if (status != 0) throw Unusable(std::string(call) + " answers " + std::to_string(status));
}

// Any later call of a library. Each has codes of its own; 0 is success for all four.
inline void check(const char* call, int status) {
  if (status != 0) throw std::runtime_error(std::string(call) + " answers " + std::to_string(status));
}
#define LIB_CHECK(function, ...) check(#function, function(__VA_ARGS__))

// libraryPropertyType: 0, 1 and 2 ask for the three parts of a version.
template <class Property>
std::string version_of(Property property) {
  int parts[3] = {};
  for (int which = 0; which < 3; ++which) LIB_CHECK(property, which, &parts[which]);
  return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
}

// cublasSgemm: c = alpha op(a) op(b) + beta c, all matrices stored column by column; op is 0, as stored, or 1,
// transposed. op(a) is m x k, op(b) k x n, c m x n; lda, ldb, ldc: how far apart the columns of a, b and c begin.
using Sgemm = int (*)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                      int lda, const float* b, int ldb, const float* beta, float* c, int ldc);

struct Cublas : Library {
  int (*cublasCreate)(void** handle);
  int (*cublasDestroy)(void* handle);
  int (*cublasSetStream)(void* handle, CUstream stream);
  int (*cublasGetProperty)(int which, int* value);
  Sgemm cublasSgemm;

  Cublas() : Library({"libcublas.so.13", "libcublas.so.12"}) {
    find("cublasCreate_v2", cublasCreate);
    find("cublasDestroy_v2", cublasDestroy);
    find("cublasSetStream_v2", cublasSetStream);
    find("cublasGetProperty", cublasGetProperty);
    find("cublasSgemm_v2", cublasSgemm);
  }
};

// Complex numbers are pairs of floats; type 0x29 is complex to complex, direction -1 forward and 1 back.
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

// Generator 161 is Philox 4x32-10. A host generator writes the same numbers as a device one, with the CPU.
struct Curand : Library {
  int (*curandCreateGenerator)(void** generator, int type);
  int (*curandCreateGeneratorHost)(void** generator, int type);
  int (*curandDestroyGenerator)(void* generator);
  int (*curandSetStream)(void* generator, CUstream stream);
  int (*curandSetPseudoRandomGeneratorSeed)(void* generator, unsigned long long seed);
  int (*curandSetGeneratorOffset)(void* generator, unsigned long long offset);
  int (*curandGenerateUniform)(void* generator, float* numbers, std::size_t count);
  int (*curandGetProperty)(int which, int* value);

  Curand() : Library({"libcurand.so.10"}) {
    find("curandCreateGenerator", curandCreateGenerator);
    find("curandCreateGeneratorHost", curandCreateGeneratorHost);
    find("curandDestroyGenerator", curandDestroyGenerator);
    find("curandSetStream", curandSetStream);
    find("curandSetPseudoRandomGeneratorSeed", curandSetPseudoRandomGeneratorSeed);
    find("curandSetGeneratorOffset", curandSetGeneratorOffset);
    find("curandGenerateUniform", curandGenerateUniform);
    find("curandGetProperty", curandGetProperty);
  }
};

// Layout 0 is NCHW (image, channel, row, column), type 0 float; mode 1 is what networks call a convolution.
struct Cudnn : Library {
  int (*cudnnCreate)(void** handle);
  int (*cudnnDestroy)(void* handle);
  int (*cudnnSetStream)(void* handle, CUstream stream);
  int (*cudnnGetProperty)(int which, int* value);
  int (*cudnnCreateTensorDescriptor)(void** tensor);
  int (*cudnnDestroyTensorDescriptor)(void* tensor);
  int (*cudnnSetTensor4dDescriptor)(void* tensor, int layout, int type, int n, int c, int h, int w);
  int (*cudnnCreateFilterDescriptor)(void** filter);
  int (*cudnnDestroyFilterDescriptor)(void* filter);
  int (*cudnnSetFilter4dDescriptor)(void* filter, int type, int layout, int k, int c, int h, int w);
  int (*cudnnCreateConvolutionDescriptor)(void** convolution);
  int (*cudnnDestroyConvolutionDescriptor)(void* convolution);
  int (*cudnnSetConvolution2dDescriptor)(void* convolution, int pad_h, int pad_w, int stride_h, int stride_w,
                                         int dilation_h, int dilation_w, int mode, int type);
  int (*cudnnSetConvolutionMathType)(void* convolution, int math);
  int (*cudnnConvolutionForward)(void* handle, const void* alpha, void* x_tensor, const void* x, void* filter,
                                 const void* w, void* convolution, int algorithm, void* workspace, std::size_t bytes,
                                 const void* beta, void* y_tensor, void* y);

  Cudnn() : Library({"libcudnn.so.9", "libcudnn.so.8"}) {
    find("cudnnCreate", cudnnCreate);
    find("cudnnDestroy", cudnnDestroy);
    find("cudnnSetStream", cudnnSetStream);
    find("cudnnGetProperty", cudnnGetProperty);
    find("cudnnCreateTensorDescriptor", cudnnCreateTensorDescriptor);
    find("cudnnDestroyTensorDescriptor", cudnnDestroyTensorDescriptor);
    find("cudnnSetTensor4dDescriptor", cudnnSetTensor4dDescriptor);
    find("cudnnCreateFilterDescriptor", cudnnCreateFilterDescriptor);
    find("cudnnDestroyFilterDescriptor", cudnnDestroyFilterDescriptor);
    find("cudnnSetFilter4dDescriptor", cudnnSetFilter4dDescriptor);
    find("cudnnCreateConvolutionDescriptor", cudnnCreateConvolutionDescriptor);
    find("cudnnDestroyConvolutionDescriptor", cudnnDestroyConvolutionDescriptor);
    find("cudnnSetConvolution2dDescriptor", cudnnSetConvolution2dDescriptor);
    find("cudnnSetConvolutionMathType", cudnnSetConvolutionMathType);
    find("cudnnConvolutionForward", cudnnConvolutionForward);
  }
};
