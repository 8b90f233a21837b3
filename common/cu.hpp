// The error-check macros of every lesson, and the few owners that lessons share.
//
//   CU_CHECK(call)         reports a failure on stderr and ends the program: for main() and for tests
//   CU_THROW(call)         throws cu::Error: for code that has a caller who can do something about it
//   CU_RETURN(call)        returns the CUresult from the enclosing function: for code behind a C interface
//   CU_EXPECT(code, call)  for calls that must fail: ends the program unless the call answers exactly `code`; its value
//                          is that code, to be shown
//   CU_REPORT(call)        reports a failure on stderr and goes on: for destructors, which must not throw; silent when
//                          the exception that is on its way up has the same code
//
//   cu::Context            a context of our own, current from here to the end of the scope
//   cu::Primary            the device's primary context, shared with others, current from here to the end of the scope
//   cu::Current            somebody's context, current from here to the end of the scope
//   cu::Memory             device memory
//   cu::Module             a loaded kernel image
//   cu::Pinned             page-locked host memory
//   cu::Stream, cu::Event  a stream that does not wait for the default one, and a mark in a stream that knows the time
//
// A report reads "file:line: call -> CUDA_ERROR_NAME: what it means". Lesson 01-04 builds it up step by step.
// Source of the codes and names: CUDA Driver API manual, "Data types used by CUDA driver", enum CUresult.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace cu {

// The code's name, "CUDA_ERROR_INVALID_VALUE" for example. Works before cuInit.
inline const char* name(CUresult result) noexcept {
  const char* text = nullptr;
  return cuGetErrorName(result, &text) == CUDA_SUCCESS ? text : "a code that this driver does not know";
}

// The driver's sentence for the code, "invalid argument" for example. Works before cuInit.
inline const char* meaning(CUresult result) noexcept {
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

// What the macros below expand to. They add what only a macro can see: the call's text, its file and its line.
namespace detail {

inline std::string report(CUresult result, const char* call, const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line) + ": " + call + " -> " + name(result) + ": " + meaning(result);
}

// Builds no string: it must work when memory is short, and in destructors.
inline void print(CUresult result, const char* call, const char* file, int line) noexcept {
  std::fflush(stdout);  // what the program has printed so far comes before the report, in a file or a pipe too
  std::fprintf(stderr, "%s:%d: %s -> %s: %s\n", file, line, call, name(result), meaning(result));
}

inline void check(CUresult result, const char* call, const char* file, int line) noexcept {
  if (result == CUDA_SUCCESS) return;
  print(result, call, file, line);
  std::exit(EXIT_FAILURE);  // the driver takes back what the process owned
}

inline thread_local CUresult last_thrown = CUDA_SUCCESS;

inline void check_throw(CUresult result, const char* call, const char* file, int line) {
  if (result == CUDA_SUCCESS) return;
  last_thrown = result;
  throw Error(result, report(result, call, file, line));
}

// A kernel's fault is answered by every later call: told again by each destructor, it would bury the call that threw.
inline void check_report(CUresult result, const char* call, const char* file, int line) noexcept {
  if (result == CUDA_SUCCESS || (std::uncaught_exceptions() > 0 && result == last_thrown)) return;
  print(result, call, file, line);
}

inline CUresult expect(CUresult expected, CUresult result, const char* call, const char* file, int line) noexcept {
  if (result == expected) return result;
  print(result, call, file, line);
  std::fprintf(stderr, "%s:%d: expected %s\n", file, line, name(expected));
  std::exit(EXIT_FAILURE);
}

}  // namespace detail
}  // namespace cu

// All take `...`, so that a comma inside braces in a call does not cut it in two.
#define CU_CHECK(...) cu::detail::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_THROW(...) cu::detail::check_throw((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_EXPECT(code, ...) cu::detail::expect((code), (__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// do … while (false): one statement that takes a semicolon, also between `if` and `else`.
#define CU_RETURN(...)                                                           \
  do {                                                                           \
    if (const CUresult cu_result_ = (__VA_ARGS__); cu_result_ != CUDA_SUCCESS) { \
      return cu_result_;                                                         \
    }                                                                            \
  } while (false)

#define CU_REPORT(...) cu::detail::check_report((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// CUDA 13 gave cuCtxCreate a fourth argument, the creation parameters, in second place. Lessons write the new form;
// with the headers of CUDA 12, whose cuCtxCreate has three, this overload takes it (the parameters must be null).
#if CUDA_VERSION < 13000
#undef cuCtxCreate
inline CUresult cuCtxCreate(CUcontext* context, std::nullptr_t, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
#endif

// The headers before CUDA 12.4 do not declare it; a driver of today has it.
#if CUDA_VERSION < 12040
extern "C" CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                               std::size_t* bytes);
#endif

// CUDA 13 also made prefetching and advice take a CUmemLocation, where a device number stood before (CU_DEVICE_CPU for
// the host). Lessons write the new form. CUDA 12.0 and 12.1 have no name for the host's location.
#if CUDA_VERSION < 13000
#if CUDA_VERSION < 12020
constexpr CUmemLocationType CU_MEM_LOCATION_TYPE_HOST = static_cast<CUmemLocationType>(2);
#endif
namespace cu::detail {
inline CUdevice number(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}
}  // namespace cu::detail
inline CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUmemLocation location, unsigned int,
                                   CUstream stream) {
  return cuMemPrefetchAsync(address, bytes, cu::detail::number(location), stream);
}
inline CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return cuMemAdvise(address, bytes, advice, cu::detail::number(location));
}
#endif

// The owners: made by calls that throw, released by destructors that report. What they hold is public: a lesson passes
// it to the driver as it is. A default argument is evaluated where the call stands, so `file` and `line` are those of
// whoever makes an owner, and a report points there. They are neither copied nor moved: each ends with its scope.
#define CU_THROW_AT(file, line, ...) cu::detail::check_throw((__VA_ARGS__), #__VA_ARGS__, file, line)

namespace cu {

// A context of our own on one device: created, hence current, by the constructor, and destroyed with everything in it.
struct Context {
  CUdevice device = 0;
  CUcontext handle = nullptr;

  explicit Context(int ordinal = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuInit(0));
    CU_THROW_AT(file, line, cuDeviceGet(&device, ordinal));
    CU_THROW_AT(file, line, cuCtxCreate(&handle, nullptr, 0, device));
  }
  ~Context() { CU_REPORT(cuCtxDestroy(handle)); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

// Makes a context current, whoever owns it, until the end of the scope; the thread's stack is then what it was before.
struct Current {
  explicit Current(CUcontext context, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuCtxPushCurrent(context));
  }
  ~Current() {
    CUcontext popped;
    CU_REPORT(cuCtxPopCurrent(&popped));
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

// A share in the primary context of one device: retained and current, then popped and released.
struct Primary {
  CUdevice device = 0;
  CUcontext handle = nullptr;

  explicit Primary(int ordinal = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuInit(0));
    CU_THROW_AT(file, line, cuDeviceGet(&device, ordinal));
    CU_THROW_AT(file, line, cuDevicePrimaryCtxRetain(&handle, device));
    if (const CUresult pushed = cuCtxPushCurrent(handle); pushed != CUDA_SUCCESS) {
      CU_REPORT(cuDevicePrimaryCtxRelease(device));  // no destructor runs for what was not constructed
      detail::check_throw(pushed, "cuCtxPushCurrent(handle)", file, line);
    }
  }
  ~Primary() {
    CUcontext popped;
    CU_REPORT(cuCtxPopCurrent(&popped));
    CU_REPORT(cuDevicePrimaryCtxRelease(device));
  }
  Primary(const Primary&) = delete;
  Primary& operator=(const Primary&) = delete;
};

// Device memory of the context that is current, `bytes` long. Without a size it owns nothing yet, and a caller that
// must not throw writes CU_RETURN(cuMemAlloc(&memory.address, bytes)).
struct Memory {
  CUdeviceptr address = 0;

  Memory() = default;
  explicit Memory(std::size_t bytes, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuMemAlloc(&address, bytes));
  }
  ~Memory() {
    if (address != 0) CU_REPORT(cuMemFree(address));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

// A kernel image (PTX, cubin or fatbin), loaded into the context that is current. Without a path it owns nothing yet.
struct Module {
  CUmodule handle = nullptr;

  Module() = default;
  explicit Module(const std::string& path, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuModuleLoad(&handle, path.c_str()));
  }
  ~Module() {
    if (handle != nullptr) CU_REPORT(cuModuleUnload(handle));
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  CUfunction function(const char* name, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    CUfunction found = nullptr;
    CU_THROW_AT(file, line, cuModuleGetFunction(&found, handle, name));
    return found;
  }
};

// Page-locked host memory, `bytes` long. The flags are those of cuMemHostAlloc: CU_MEMHOSTALLOC_PORTABLE,
// CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED.
struct Pinned {
  void* address = nullptr;

  explicit Pinned(std::size_t bytes, unsigned int flags = 0, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuMemHostAlloc(&address, bytes, flags));
  }
  ~Pinned() { CU_REPORT(cuMemFreeHost(address)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(address);
  }
};

// A stream of the context that is current. What is in it when it ends is still done.
struct Stream {
  CUstream handle = nullptr;

  explicit Stream(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING));
  }
  ~Stream() { CU_REPORT(cuStreamDestroy(handle)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

// An event of the context that is current; its default flags let cuEventElapsedTime use it.
struct Event {
  CUevent handle = nullptr;

  explicit Event(unsigned int flags = CU_EVENT_DEFAULT, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuEventCreate(&handle, flags));
  }
  ~Event() { CU_REPORT(cuEventDestroy(handle)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

}  // namespace cu

#undef CU_THROW_AT
