// Rejected with: "tensors with any strides give the right values"
// It ignores the strides and reads the elements in memory order.
// Write the op y = silu(gate) · up, the activation function of most language models, for tensors on the CPU and on a
// GPU.
//
// silu(g) is g / (1 + exp(-g)). The two tensors have the same shape, dtype and device. They may have any strides and
// any number of elements, including none. The dtype is float16, bfloat16, float32 or float64. Half types are computed
// in float.
#include "05-extension/05-canonical-op/package/csrc/op.hpp"

#include <cuda_runtime.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>

#include <cmath>

// One element of the result, for both implementations.
template <class T>
C10_HOST_DEVICE T swiglu(T gate, T up) {
  const Wide<T> g = static_cast<Wide<T>>(gate);
  return static_cast<T>(g / (1 + std::exp(-g)) * static_cast<Wide<T>>(up));
}

// The check launches this kernel itself, too: with blocks of 256 threads, and at least one thread per element.
template <class T>
__global__ void swiglu_kernel(const T* gate, const T* up, T* y, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) y[i] = swiglu(gate[i], up[i]);
}

Tensor on_cpu(const Tensor& gate, const Tensor& up) {
  check_alike(gate, up);
  const Tensor a = gate, b = up;
  Tensor y = torch::stable::empty_like(a);
  DISPATCH(a.scalar_type(), [&] {
    const scalar_t *from = a.const_data_ptr<scalar_t>(), *other = b.const_data_ptr<scalar_t>();
    scalar_t* to = y.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < a.numel(); ++i) to[i] = swiglu(from[i], other[i]);
  });
  return y;
}

Tensor on_cuda(const Tensor& gate, const Tensor& up) {
  check_alike(gate, up);
  const Tensor a = gate, b = up;
  Tensor y = torch::stable::empty_like(a);
  if (a.numel() == 0) return y;
  const torch::stable::accelerator::DeviceGuard guard(a.get_device_index());
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(a.get_device_index(), &stream));
  DISPATCH(a.scalar_type(), [&] {
    swiglu_kernel<<<static_cast<unsigned>((a.numel() + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(
        a.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), a.numel());
  });
  STD_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

// Everything below is complete.
template __global__ void swiglu_kernel(const torch::headeronly::Half*, const torch::headeronly::Half*,
                                       torch::headeronly::Half*, int64_t);
template __global__ void swiglu_kernel(const torch::headeronly::BFloat16*, const torch::headeronly::BFloat16*,
                                       torch::headeronly::BFloat16*, int64_t);
template __global__ void swiglu_kernel(const float*, const float*, float*, int64_t);
template __global__ void swiglu_kernel(const double*, const double*, double*, int64_t);

STABLE_TORCH_LIBRARY(exercise, library) { library.def("swiglu(Tensor gate, Tensor up) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(exercise, CPU, library) { library.impl("swiglu", TORCH_BOX(&on_cpu)); }
STABLE_TORCH_LIBRARY_IMPL(exercise, CUDA, library) { library.impl("swiglu", TORCH_BOX(&on_cuda)); }
