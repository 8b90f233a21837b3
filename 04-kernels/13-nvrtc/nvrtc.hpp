// NVRTC, the compiler as a library. It is loaded at run time, because a machine can have a driver but no NVRTC.
#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// A program that is being compiled, an opaque handle.
using nvrtcProgram = struct NvrtcProgram*;

// Its functions, under the names of the manual. All but the last return 0 for success.
struct Nvrtc {
  int (*nvrtcVersion)(int* major, int* minor);
  int (*nvrtcGetNumSupportedArchs)(int* count);
  int (*nvrtcGetSupportedArchs)(int* architectures);
  int (*nvrtcCreateProgram)(nvrtcProgram*, const char* source, const char* name, int headers, const char* const* texts,
                            const char* const* names);
  int (*nvrtcAddNameExpression)(nvrtcProgram, const char* expression);
  int (*nvrtcCompileProgram)(nvrtcProgram, int count, const char* const* options);
  int (*nvrtcGetProgramLogSize)(nvrtcProgram, std::size_t* bytes);
  int (*nvrtcGetProgramLog)(nvrtcProgram, char* log);
  int (*nvrtcGetPTXSize)(nvrtcProgram, std::size_t* bytes);
  int (*nvrtcGetPTX)(nvrtcProgram, char* ptx);
  int (*nvrtcGetLoweredName)(nvrtcProgram, const char* expression, const char** name);
  int (*nvrtcDestroyProgram)(nvrtcProgram*);
  const char* (*nvrtcGetErrorString)(int result);

  // Returns false if NVRTC is not installed.
  bool load() {
    void* library = nullptr;
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    }
    return library != nullptr && find(library, "nvrtcVersion", nvrtcVersion) &&
           find(library, "nvrtcGetNumSupportedArchs", nvrtcGetNumSupportedArchs) &&
           find(library, "nvrtcGetSupportedArchs", nvrtcGetSupportedArchs) &&
           find(library, "nvrtcCreateProgram", nvrtcCreateProgram) &&
           find(library, "nvrtcAddNameExpression", nvrtcAddNameExpression) &&
           find(library, "nvrtcCompileProgram", nvrtcCompileProgram) &&
           find(library, "nvrtcGetProgramLogSize", nvrtcGetProgramLogSize) &&
           find(library, "nvrtcGetProgramLog", nvrtcGetProgramLog) &&
           find(library, "nvrtcGetPTXSize", nvrtcGetPTXSize) && find(library, "nvrtcGetPTX", nvrtcGetPTX) &&
           find(library, "nvrtcGetLoweredName", nvrtcGetLoweredName) &&
           find(library, "nvrtcDestroyProgram", nvrtcDestroyProgram) &&
           find(library, "nvrtcGetErrorString", nvrtcGetErrorString);
  }

  // Returns the newest architecture that NVRTC supports, up to `limit` (90 for 9.0).
  int newest_architecture(int limit) const {
    int count, newest = 0;
    check(nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs(&count)");
    std::vector<int> known(count);
    check(nvrtcGetSupportedArchs(known.data()), "nvrtcGetSupportedArchs(known.data())");
    for (const int architecture : known)
      newest = architecture <= limit && architecture > newest ? architecture : newest;
    return newest;
  }

  // Ends the program unless the result is 0.
  void check(int result, const char* call) const {
    if (result == 0) return;
    std::fprintf(stderr, "%s -> %s\n", call, nvrtcGetErrorString(result));
    std::exit(EXIT_FAILURE);
  }

 private:
  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
};

#define NVRTC_CHECK(nvrtc, call) (nvrtc).check((nvrtc).call, #call)
