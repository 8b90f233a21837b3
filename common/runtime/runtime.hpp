// What all files of the runtime share: the context of a call, its error, and the conversion of arguments.
//
// A file whose functions have a variant for the per-thread default stream is compiled twice. The second time,
// RUNTIME_PER_THREAD is defined, and cuda_runtime_api.h turns cudaMemcpyAsync into cudaMemcpyAsync_ptsz, and so on.
#pragma once
#include "common/runtime/driver.hpp"

#ifdef RUNTIME_PER_THREAD
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#endif
#include <cuda_runtime_api.h>

#if CUDART_VERSION < 13000
#error "The runtime is compiled with the headers of CUDA 13, also for programs of CUDA 12."
#endif
#ifndef RUNTIME_MAJOR
#define RUNTIME_MAJOR 13
#endif
#if RUNTIME_MAJOR == 12
#include "common/runtime/twelve.hpp"
#endif

#include <cstddef>

namespace runtime {

// ---- Errors (errors.cpp) -------------------------------------------------------------------------------------------

// Since CUDA 10.1, both APIs have the same number for the errors that they share.
inline cudaError_t code(CUresult result) { return static_cast<cudaError_t>(result); }
inline cudaError_t code(cudaError_t error) { return error; }

// Remembers a failure for cudaGetLastError, and returns it.
cudaError_t kept(cudaError_t error);
inline cudaError_t kept(CUresult result) { return kept(code(result)); }

// For a function that is not implemented. Names it on stderr, once.
cudaError_t not_supported(const char* function);

// ---- Devices and contexts (devices.cpp) ----------------------------------------------------------------------------

// Starts the driver. Most functions need more: ready().
cudaError_t started();
// The same for the few functions that also work in exit handlers that find the runtime unloading.
cudaError_t known_driver();

// Makes sure that a context is current: the one that the program made current with the driver API, or the primary
// context of the thread's device.
cudaError_t ready();

// Where a thread that is ready launches its kernels. Two are equal only if functions found in one hold in the other.
struct Place {
  CUcontext primary = nullptr;  // nullptr: a context of the program's own, about which nothing can be remembered
  unsigned resets = 0;          // how often cudaDeviceReset was called before
};
Place place();

int device_count();

// Returns from the function with the result of a driver call, in a context.
#define RUNTIME_CALL(call)                                                                         \
  do {                                                                                             \
    const cudaError_t is_ready_ = ::runtime::ready();                                              \
    return ::runtime::kept(is_ready_ != cudaSuccess ? is_ready_ : code(::runtime::driver().call)); \
  } while (false)

// Returns from the function if an argument is invalid, or anything else has failed.
#define RUNTIME_REQUIRE(condition, error)            \
  do {                                               \
    if (!(condition)) return ::runtime::kept(error); \
  } while (false)
#define RUNTIME_TRY(expression)                                \
  do {                                                         \
    const cudaError_t tried_ = code(expression);               \
    if (tried_ != cudaSuccess) return ::runtime::kept(tried_); \
  } while (false)

// ---- Streams -------------------------------------------------------------------------------------------------------

// The null stream means the legacy default stream, or the thread's own in the variants for that.
#ifdef RUNTIME_PER_THREAD
inline CUstream stream_of(cudaStream_t stream) { return stream != nullptr ? stream : CU_STREAM_PER_THREAD; }
#else
inline CUstream stream_of(cudaStream_t stream) { return stream; }
#endif

// ---- Pointers ------------------------------------------------------------------------------------------------------

inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
inline CUarray driver_array(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}
inline CUmipmappedArray driver_array(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array));
}

// A handle that both APIs declare under two names.
template <class To, class From>
To handle(From from) {
  return reinterpret_cast<To>(from);
}

// A structure that both APIs declare alike, under two names.
template <class To, class From>
To* same(From* from) {
  static_assert(sizeof(To) == sizeof(From), "the structures differ");
  return reinterpret_cast<To*>(from);
}

}  // namespace runtime

using runtime::code;
