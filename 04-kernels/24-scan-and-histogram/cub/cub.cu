// CUB's DeviceScan::InclusiveSum and DeviceHistogram::HistogramEven behind a C interface, for comparison. It is built
// only on request, because it takes a minute to compile. It uses the runtime API, which works in the current context.
#include <cuda.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_scan.cuh>

// Calls a CUB function twice, as CUB requires: first it computes how much temporary memory it needs, then it works.
// That memory is allocated once.
template <class Function>
CUresult call(Function function) {
  static void* temporary = nullptr;
  static size_t bytes = 0;
  if (temporary == nullptr) {
    if (function(nullptr, bytes) != cudaSuccess) return CUDA_ERROR_UNKNOWN;
    if (cudaMalloc(&temporary, bytes) != cudaSuccess) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return function(temporary, bytes) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

extern "C" CUresult scan(CUdeviceptr in, CUdeviceptr out, unsigned long long n) {
  return call([=](void* temporary, size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(temporary, bytes, reinterpret_cast<const unsigned*>(in),
                                         reinterpret_cast<unsigned*>(out), n);
  });
}

extern "C" CUresult histogram(CUdeviceptr in, CUdeviceptr bins, unsigned long long n) {
  constexpr int kBins = 256;
  return call([=](void* temporary, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(temporary, bytes, reinterpret_cast<const unsigned char*>(in),
                                               reinterpret_cast<unsigned*>(bins), kBins + 1, 0, kBins,
                                               static_cast<long long>(n));
  });
}
