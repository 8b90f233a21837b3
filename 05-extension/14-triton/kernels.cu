// y = x² + b for half-precision numbers, as a CUDA programmer would begin: each thread computes one element.
#include <cuda_fp16.h>

extern "C" __global__ void forward(const __half* x, const __half* b, __half* y, int columns) {
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const long long at = static_cast<long long>(blockIdx.x) * columns + column;
  const float value = __half2float(x[at]);
  y[at] = __float2half(value * value + __half2float(b[blockIdx.x]));
}
