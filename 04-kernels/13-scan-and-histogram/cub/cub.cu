// CUB's scan behind a C interface: only for comparison, and built only if asked for. It is compiled with the runtime
// API, which works in the context that is current.
#include <cuda.h>
#include <cub/device/device_scan.cuh>

extern "C" CUresult scan(CUdeviceptr in, CUdeviceptr out, unsigned long long n) {
  static void* scratch = nullptr;
  static size_t bytes = 0;
  const auto* from = reinterpret_cast<const unsigned*>(in);
  auto* to = reinterpret_cast<unsigned*>(out);
  if (scratch == nullptr) {
    if (cub::DeviceScan::InclusiveSum(nullptr, bytes, from, to, n) != cudaSuccess) return CUDA_ERROR_UNKNOWN;
    if (cudaMalloc(&scratch, bytes) != cudaSuccess) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return cub::DeviceScan::InclusiveSum(scratch, bytes, from, to, n) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
