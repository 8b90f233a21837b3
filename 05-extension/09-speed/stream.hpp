// PyTorch's current stream on a device. A PyTorch without CUDA has no streams, and the function is never called.
#pragma once
#include <cuda.h>

#if __has_include(<c10/cuda/impl/cuda_cmake_macros.h>)
#include <c10/cuda/CUDAStream.h>
inline CUstream current_stream(int device) {
  return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).stream();
}
#else
inline CUstream current_stream(int) { return nullptr; }
#endif
