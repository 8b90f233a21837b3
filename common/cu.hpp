// Macros that check driver calls, and classes that own what the driver hands out. Every lesson includes this file.
//
// The macros differ in what they do when a call fails. Lesson 01-03 develops the first three.
//   CU_CHECK(call)         prints a report on stderr and exits with status 1. For main() and for tests. Not for a
//                          thread that runs beside others: std::exit() is not safe there.
//   CU_THROW(call)         throws cu::Error. For functions whose caller can handle the error.
//   CU_RETURN(call)        returns the CUresult from the enclosing function. For functions behind a C interface.
//   CU_EXPECT(code, call)  exits like CU_CHECK unless the call returns exactly `code`, and has that code as its value.
//                          For calls that are meant to fail.
//   CU_REPORT(call)        prints a report and continues. For destructors, which must not throw. It prints nothing
//                          while an exception with the same error code is propagating.
// A report reads "file:line: call -> CUDA_ERROR_NAME: description".
//
// The owners acquire a resource in their constructor and release it in their destructor. Lesson 02-02 explains them.
//   cu::Context            a new context, which becomes current
//   cu::Primary            a reference to a device's primary context, current until the end of the scope
//   cu::Current            an entry on the calling thread's context stack, removed at the end of the scope
//   cu::Memory             device memory
//   cu::Module             a loaded kernel image
//   cu::Pinned             page-locked host memory
//   cu::Stream, cu::Event  a stream that does not synchronize with the default stream, and an event
//
// Error codes and names: CUDA Driver API manual, "Data types used by CUDA driver", enum CUresult.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace cu {

// Returns the name of an error code, for example "CUDA_ERROR_INVALID_VALUE". Works before cuInit.
inline const char* name(CUresult result) noexcept {
  const char* text = nullptr;
  return cuGetErrorName(result, &text) == CUDA_SUCCESS ? text : "a code that this driver does not know";
}

// Returns the driver's description of an error code, for example "invalid argument". Works before cuInit.
inline const char* meaning(CUresult result) noexcept {
  const char* text = nullptr;
  return cuGetErrorString(result, &text) == CUDA_SUCCESS ? text : "unknown";
}

// A driver call that failed. what() returns the report, and code() the error code.
class Error : public std::runtime_error {
 public:
  Error(CUresult code, const std::string& report) : std::runtime_error(report), code_(code) {}
  CUresult code() const noexcept { return code_; }

 private:
  CUresult code_;
};

// The functions behind the macros. A macro adds what only the preprocessor knows: the text of the call, file and line.
namespace detail {

inline std::string report(CUresult result, const char* call, const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line) + ": " + call + " -> " + name(result) + ": " + meaning(result);
}

// Does not build a string, because it also runs in destructors and when the host is out of memory.
inline void print(CUresult result, const char* call, const char* file, int line) noexcept {
  std::fflush(stdout);  // keeps earlier output above the report when both go to the same file or pipe
  std::fprintf(stderr, "%s:%d: %s -> %s: %s\n", file, line, call, name(result), meaning(result));
}

inline void check(CUresult result, const char* call, const char* file, int line) noexcept {
  if (result == CUDA_SUCCESS) return;
  print(result, call, file, line);
  std::exit(EXIT_FAILURE);  // when the process ends, the driver releases everything that it owned
}

inline thread_local CUresult last_thrown = CUDA_SUCCESS;

inline void check_throw(CUresult result, const char* call, const char* file, int line) {
  if (result == CUDA_SUCCESS) return;
  last_thrown = result;
  throw Error(result, report(result, call, file, line));
}

// After a kernel has faulted, every later call in its context returns the same error. If each destructor reported it
// during stack unwinding, the call that threw would be hard to find.
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

// The macros are variadic because the preprocessor would otherwise split a call at a comma between braces.
#define CU_CHECK(...) cu::detail::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_THROW(...) cu::detail::check_throw((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CU_EXPECT(code, ...) cu::detail::expect((code), (__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// `do … while (false)` makes the macro a single statement, which can also be placed between `if` and `else`.
#define CU_RETURN(...)                                                           \
  do {                                                                           \
    if (const CUresult cu_result_ = (__VA_ARGS__); cu_result_ != CUDA_SUCCESS) { \
      return cu_result_;                                                         \
    }                                                                            \
  } while (false)

#define CU_REPORT(...) cu::detail::check_report((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// CUDA 13 added a parameter to cuCtxCreate: the creation parameters, in second place. The lessons use the new form.
// With the headers of CUDA 12, this overload accepts it, provided that the creation parameters are null.
#if CUDA_VERSION < 13000
#undef cuCtxCreate
inline CUresult cuCtxCreate(CUcontext* context, std::nullptr_t, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
#endif

// Headers older than CUDA 12.1 and 12.4 do not declare these functions. Current drivers export them.
#if CUDA_VERSION < 12010
extern "C" CUresult CUDAAPI cuCtxSetFlags(unsigned int flags);
#endif
#if CUDA_VERSION < 12040
extern "C" CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                               std::size_t* bytes);
#endif

// Since CUDA 13, cuMemPrefetchAsync and cuMemAdvise take a CUmemLocation instead of a device (CU_DEVICE_CPU for the
// host). The lessons use the new form. The headers of CUDA 12.0 and 12.1 have no name for the location "host".
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

// The owners. Their constructors throw cu::Error, and their destructors report errors without throwing. Handles and
// addresses are public, so that a lesson can pass them to any driver call. Resources belong to the context that is
// current when they are created, so declare the context first: it is then destroyed last.
//
// `file` and `line` are default arguments, which are evaluated where the owner is declared. A report therefore names a
// line of the program and not of this header.
//
// Owners cannot be copied, because each resource must be released exactly once. They can be moved: the new owner takes
// over the resource, and the moved-from owner holds nothing and releases nothing. `operator=` takes its argument by
// value and swaps; the argument's destructor then releases the resource that this owner had before.
// cu::Primary and cu::Current cannot be moved either. They own an entry on the calling thread's context stack, and the
// scope in which they are declared determines when that entry is removed.
#define CU_THROW_AT(file, line, ...) cu::detail::check_throw((__VA_ARGS__), #__VA_ARGS__, file, line)

namespace cu {

// A new context on the device with this ordinal. The constructor initializes the driver and makes the context current
// for the calling thread. The destructor destroys the context and everything that it still owns; if the context is
// current for the calling thread at that moment, it is also removed from that thread's stack. Moving the owner does not
// change which context is current.
struct Context {
  CUdevice device = 0;
  CUcontext handle = nullptr;

  explicit Context(int ordinal = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuInit(0));
    CU_THROW_AT(file, line, cuDeviceGet(&device, ordinal));
    CU_THROW_AT(file, line, cuCtxCreate(&handle, nullptr, 0, device));
  }
  ~Context() {
    if (handle != nullptr) CU_REPORT(cuCtxDestroy(handle));
  }
  Context(Context&& other) noexcept : device(other.device), handle(std::exchange(other.handle, nullptr)) {}
  Context& operator=(Context other) noexcept {
    std::swap(device, other.device);
    std::swap(handle, other.handle);
    return *this;
  }
};

// Pushes a context that it does not own. The destructor pops it, which restores the previous current context.
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

// A reference to the primary context of the device with this ordinal. The constructor initializes the driver, retains
// the context and pushes it. The destructor pops the context and releases it.
struct Primary {
  CUdevice device = 0;
  CUcontext handle = nullptr;

  explicit Primary(int ordinal = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuInit(0));
    CU_THROW_AT(file, line, cuDeviceGet(&device, ordinal));
    CU_THROW_AT(file, line, cuDevicePrimaryCtxRetain(&handle, device));
    if (const CUresult pushed = cuCtxPushCurrent(handle); pushed != CUDA_SUCCESS) {
      CU_REPORT(cuDevicePrimaryCtxRelease(device));  // the destructor does not run if the constructor throws
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

// `bytes` bytes of device memory, allocated in the current context. A default-constructed owner holds nothing; code
// that must not throw starts with one and writes CU_RETURN(cuMemAlloc(&memory.address, bytes)).
struct Memory {
  CUdeviceptr address = 0;

  Memory() = default;
  explicit Memory(std::size_t bytes, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuMemAlloc(&address, bytes));
  }
  ~Memory() {
    if (address != 0) CU_REPORT(cuMemFree(address));
  }
  Memory(Memory&& other) noexcept : address(std::exchange(other.address, 0)) {}
  Memory& operator=(Memory other) noexcept {
    std::swap(address, other.address);
    return *this;
  }
};

// A kernel image (a PTX, cubin or fatbin file), loaded into the current context. A default-constructed owner holds
// nothing.
struct Module {
  CUmodule handle = nullptr;

  Module() = default;
  explicit Module(const std::string& path, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuModuleLoad(&handle, path.c_str()));
  }
  ~Module() {
    if (handle != nullptr) CU_REPORT(cuModuleUnload(handle));
  }
  Module(Module&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Module& operator=(Module other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }

  // Returns the kernel with this name. It is valid until the module is unloaded.
  CUfunction function(const char* name, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    CUfunction found = nullptr;
    CU_THROW_AT(file, line, cuModuleGetFunction(&found, handle, name));
    return found;
  }
};

// `bytes` bytes of page-locked host memory. The flags are those of cuMemHostAlloc: CU_MEMHOSTALLOC_PORTABLE,
// CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_WRITECOMBINED.
struct Pinned {
  void* address = nullptr;

  explicit Pinned(std::size_t bytes, unsigned int flags = 0, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuMemHostAlloc(&address, bytes, flags));
  }
  ~Pinned() {
    if (address != nullptr) CU_REPORT(cuMemFreeHost(address));
  }
  Pinned(Pinned&& other) noexcept : address(std::exchange(other.address, nullptr)) {}
  Pinned& operator=(Pinned other) noexcept {
    std::swap(address, other.address);
    return *this;
  }

  template <class T>
  T* as() const {
    return static_cast<T*>(address);
  }
};

// A stream in the current context, which does not synchronize with the default stream. The destructor does not wait:
// work that is still in the stream completes, and the driver then releases the stream.
struct Stream {
  CUstream handle = nullptr;

  explicit Stream(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING));
  }
  ~Stream() {
    if (handle != nullptr) CU_REPORT(cuStreamDestroy(handle));
  }
  Stream(Stream&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Stream& operator=(Stream other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
};

// An event in the current context. With the default flags, cuEventElapsedTime can use it; it measures in milliseconds.
struct Event {
  CUevent handle = nullptr;

  explicit Event(unsigned int flags = CU_EVENT_DEFAULT, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
    CU_THROW_AT(file, line, cuEventCreate(&handle, flags));
  }
  ~Event() {
    if (handle != nullptr) CU_REPORT(cuEventDestroy(handle));
  }
  Event(Event&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Event& operator=(Event other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
};

}  // namespace cu

#undef CU_THROW_AT
