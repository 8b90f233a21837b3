// cuBLAS, where it is installed: found when the program runs, never needed.
//
//   cu::Cublas                       a handle for the context that is current, or null; given back at the end
//   function(f, "cublasSgemm_v2")    lets f, null so far, point to the library's function of that name, if there is one
//
// Nothing is thrown: a lesson looks at the handle and at the function that it wants. The library stays loaded until the
// program ends. cuBLAS manual, cublasCreate.
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

namespace cu {

struct Cublas {
  using Handle = struct CublasHandle*;
  Handle handle = nullptr;

  Cublas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
    }
    int (*create)(Handle*) = nullptr;
    function(create, "cublasCreate_v2");
    function(destroy_, "cublasDestroy_v2");
    if (create == nullptr || create(&handle) != 0) handle = nullptr;
  }
  ~Cublas() {
    if (handle != nullptr) destroy_(handle);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  template <class Function>
  void function(Function*& pointer, const char* name) const {
    if (library_ != nullptr) pointer = reinterpret_cast<Function*>(dlsym(library_, name));
  }

 private:
  void* library_ = nullptr;
  int (*destroy_)(Handle) = nullptr;
};

}  // namespace cu
