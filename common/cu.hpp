// The error-check macros of every lesson, and the few owners that lessons share.
//
//   CU_CHECK(call)         reports a failure on stderr and ends the program: for main() and for tests
//   CU_THROW(call)         throws cu::Error: for code that has a caller who can do something about it
//   CU_RETURN(call)        returns the CUresult from the enclosing function: for code behind a C interface
//   CU_EXPECT(code, call)  for calls that must fail: ends the program unless the call answers exactly `code`
//   CU_REPORT(call)        reports a failure on stderr and goes on: for destructors, which must not throw
//
// A report reads "file:line: call -> CUDA_ERROR_NAME: what it means".
// Source of the codes and names: CUDA Driver API manual, "Data types used by CUDA driver", enum CUresult.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace cu {

// The code's name, "CUDA_ERROR_INVALID_VALUE" for example. Works before cuInit.
inline const char* name(CUresult result) {
  const char* text = nullptr;
  return cuGetErrorName(result, &text) == CUDA_SUCCESS ? text : "a code that this driver does not know";
}

// The driver's sentence for the code, "invalid argument" for example. Works before cuInit.
inline const char* meaning(CUresult result) {
  const char* text = nullptr;
  return cuGetErrorString(result, &text) == CUDA_SUCCESS ? text : "unknown";
}

// A failed driver call. what() is the report; code() is what the driver answered.
class Error : public std::runtime_error {
 public:
  Error(CUresult code, const std::string& report) : std::runtime_error(report), code_(code) {}
  CUresult code() const noexcept { return code_; }

 private:
  CUresult code_;
};

namespace detail {

inline std::string report(CUresult result, const char* call, const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line) + ": " + call + " -> " + name(result) + ": " + meaning(result);
}

inline void print(CUresult result, const char* call, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: %s -> %s: %s\n", file, line, call, name(result), meaning(result));
}

inline void check(CUresult result, const char* call, const char* file, int line) {
  if (result == CUDA_SUCCESS) return;
  print(result, call, file, line);
  std::exit(EXIT_FAILURE);  // the driver takes back what the process owned
}

inline void check_throw(CUresult result, const char* call, const char* file, int line) {
  if (result != CUDA_SUCCESS) throw Error(result, report(result, call, file, line));
}

inline void expect(CUresult expected, CUresult result, const char* call, const char* file, int line) {
  if (result == expected) return;
  print(result, call, file, line);
  std::fprintf(stderr, "%s:%d: expected %s\n", file, line, name(expected));
  std::exit(EXIT_FAILURE);
}

}  // namespace detail
}  // namespace cu

#define CU_CHECK(...) cu::detail::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_THROW(...) cu::detail::check_throw((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_EXPECT(code, ...) cu::detail::expect((code), (__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_RETURN(...)                                                           \
  do {                                                                           \
    if (const CUresult cu_result_ = (__VA_ARGS__); cu_result_ != CUDA_SUCCESS) { \
      return cu_result_;                                                         \
    }                                                                            \
  } while (false)

#define CU_REPORT(...)                                                           \
  do {                                                                           \
    if (const CUresult cu_result_ = (__VA_ARGS__); cu_result_ != CUDA_SUCCESS) { \
      cu::detail::print(cu_result_, #__VA_ARGS__, __FILE__, __LINE__);           \
    }                                                                            \
  } while (false)

// CUDA 13 gave cuCtxCreate a fourth argument, the creation parameters, in second place. Lessons write the new form;
// with the headers of CUDA 12, whose cuCtxCreate has three arguments, this overload takes it (the parameters must be
// null).
#if CUDA_VERSION < 13000
#undef cuCtxCreate
inline CUresult cuCtxCreate(CUcontext* context, std::nullptr_t, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
#endif
