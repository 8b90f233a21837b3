// gather with the assertion macro of PyTorch's own kernels, compiled with -DTORCH_USE_CUDA_DSA. The macro stores a
// failure in a buffer that PyTorch checks, instead of trapping.
#include <c10/cuda/CUDADeviceAssertion.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__global__ void gather(const float* table, unsigned rows, const unsigned* index, float* y, unsigned count,
                       TORCH_DSA_KERNEL_ARGS) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  CUDA_KERNEL_ASSERT2(index[i] < rows);
  y[i] = table[index[i]];
}

extern "C" void gather_with_dsa(const float* table, unsigned rows, const unsigned* index, float* y, unsigned count) {
  TORCH_DSA_KERNEL_LAUNCH(gather, (count + 127) / 128, 128, 0, c10::cuda::getCurrentCUDAStream(), table, rows, index, y,
                          count);
}
