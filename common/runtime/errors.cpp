// The last error of each thread, and the names of errors.
#include "common/runtime/runtime.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace runtime {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct Text {
  const char *name, *meaning;
};

Text text_of(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case 0: return {"cudaSuccess", "no error"};
#define E(number, name, meaning) \
  case number: return {"cudaError" #name, meaning};
#include "common/runtime/errors.inc"
#undef E
    default: return {"unrecognized error code", "unrecognized error code"};
  }
}

}  // namespace

cudaError_t kept(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t not_supported(const char* function) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& told = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  if (told.insert(function).second) {
    std::fprintf(stderr, "cudart: %s is not supported by this runtime library; it returns cudaErrorNotSupported.\n",
                 function);
  }
  return kept(cudaErrorNotSupported);
}

int not_supported_by_name(const char* function) { return not_supported(function); }  // for missing.cpp

}  // namespace runtime

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = runtime::last_error;
  runtime::last_error = cudaSuccess;  // after a fault, too: the next call fails again, and so reminds of it
  return error;
}

cudaError_t cudaPeekAtLastError() { return runtime::last_error; }

const char* cudaGetErrorName(cudaError_t error) { return runtime::text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return runtime::text_of(error).meaning; }

}  // extern "C"
