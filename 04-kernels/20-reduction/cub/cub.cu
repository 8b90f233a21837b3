// CUB's DeviceReduce::Sum behind a C interface, for comparison. It is built only on request, because it takes half a
// minute to compile. It uses the runtime API, which works in the current context.
#include <cuda.h>
#include <cub/device/device_reduce.cuh>

template <class T>
CUresult sum(CUdeviceptr in, CUdeviceptr result, unsigned long long n) {
  static void* scratch = nullptr;
  static size_t bytes = 0;
  const auto* from = reinterpret_cast<const T*>(in);
  auto* to = reinterpret_cast<T*>(result);
  if (scratch == nullptr) {
    if (cub::DeviceReduce::Sum(nullptr, bytes, from, to, n) != cudaSuccess) return CUDA_ERROR_UNKNOWN;
    if (cudaMalloc(&scratch, bytes) != cudaSuccess) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return cub::DeviceReduce::Sum(scratch, bytes, from, to, n) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

extern "C" CUresult unsigned_sum(CUdeviceptr in, CUdeviceptr result, unsigned long long n) {
  return sum<unsigned>(in, result, n);
}
extern "C" CUresult float_sum(CUdeviceptr in, CUdeviceptr result, unsigned long long n) {
  return sum<float>(in, result, n);
}
