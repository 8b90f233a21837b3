// y = x² + b and its gradient for four types, 16 bytes a thread: 8 halves, 4 floats or 2 doubles at a time.
#include "05-extension/04-canonical-op/op.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <atomic>

// What a type is computed in: the small ones in float, so that only the result is rounded to 16 bits.
template <class T>
struct Computed {
  using type = float;
};
template <>
struct Computed<double> {
  using type = double;
};

struct Forward {
  template <class C>
  __device__ static C of(C x, C b) {
    return x * x + b;
  }
};

struct Backward {
  template <class C>
  __device__ static C of(C x, C g) {
    return 2 * x * g;
  }
};

template <class Formula, class T>
__device__ void elementwise(const T* first, const T* second, T* result, long long count) {
  using C = typename Computed<T>::type;
  constexpr int kWidth = sizeof(uint4) / sizeof(T);
  union Pack {
    uint4 bytes;
    T element[kWidth];
    __device__ Pack() {}
  };
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long begin = thread * kWidth;
  // A tensor may begin in the middle of another: x[1:] is contiguous, and not at a multiple of 16.
  const auto addresses =
      reinterpret_cast<size_t>(first) | reinterpret_cast<size_t>(second) | reinterpret_cast<size_t>(result);
  if (addresses % sizeof(uint4) == 0 && begin + kWidth <= count) {
    Pack a, b, r;
    a.bytes = *reinterpret_cast<const uint4*>(first + begin);
    b.bytes = *reinterpret_cast<const uint4*>(second + begin);
    for (int k = 0; k < kWidth; ++k) {
      r.element[k] = static_cast<T>(Formula::of(static_cast<C>(a.element[k]), static_cast<C>(b.element[k])));
    }
    *reinterpret_cast<uint4*>(result + begin) = r.bytes;
  } else {
    for (long long i = begin; i < begin + kWidth && i < count; ++i) {
      result[i] = static_cast<T>(Formula::of(static_cast<C>(first[i]), static_cast<C>(second[i])));
    }
  }
}

// An index from a tutorial, for mistakes.cpp: blockDim multiplies the other block index, and threadIdx is missing.
template <class T>
__device__ void with_mistaken_index(const T* x, const T* b, T* y, long long count) {
  const long long i = blockIdx.x + blockDim.x * blockIdx.y;
  if (i < count) y[i] = static_cast<T>(Forward::of(static_cast<float>(x[i]), static_cast<float>(b[i])));
}

// The kernels by names that can be looked up in the image.
#define KERNELS(name, T)                                                                       \
  extern "C" __global__ void forward_##name(const T* x, const T* b, T* y, long long count) {   \
    elementwise<Forward>(x, b, y, count);                                                      \
  }                                                                                            \
  extern "C" __global__ void backward_##name(const T* x, const T* g, T* dx, long long count) { \
    elementwise<Backward>(x, g, dx, count);                                                    \
  }                                                                                            \
  extern "C" __global__ void mistaken_##name(const T* x, const T* b, T* y, long long count) {  \
    with_mistaken_index(x, b, y, count);                                                       \
  }

KERNELS(half, __half)
KERNELS(bfloat16, __nv_bfloat16)
KERNELS(float, float)
KERNELS(double, double)

// ---- The host's half of this file: CUDA's own runtime, which makes a launch of <<< >>> ----

static std::atomic<long long> launches{0};
extern "C" void square_count_launch() { ++launches; }
extern "C" long long square_launches() { return launches; }

template <class T>
static int launched(void (*kernel)(const T*, const T*, T*, long long), const square_launch& launch, void* stream) {
  kernel<<<launch.blocks, launch.threads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const T*>(launch.first), static_cast<const T*>(launch.second), static_cast<T*>(launch.result),
      launch.count);
  const cudaError_t error = cudaGetLastError();  // <<< >>> itself answers nothing
  if (error == cudaSuccess) square_count_launch();
  return error;
}

// The one of a type's kernels that is asked for.
#define LAUNCHED(name)                                            \
  launched(launch->kernel == SQUARE_FORWARD    ? forward_##name   \
           : launch->kernel == SQUARE_BACKWARD ? backward_##name  \
                                               : mistaken_##name, \
           *launch, stream)

extern "C" int square_on_device(const square_launch* launch, void* stream) {
  switch (launch->type) {
    case SQUARE_HALF: return LAUNCHED(half);
    case SQUARE_BFLOAT16: return LAUNCHED(bfloat16);
    case SQUARE_FLOAT: return LAUNCHED(float);
    case SQUARE_DOUBLE: return LAUNCHED(double);
  }
  return cudaErrorInvalidValue;
}

extern "C" const char* square_device_message(int code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); }
