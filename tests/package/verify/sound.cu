// The kernels of faulty.cu without their faults.

#include <cuda_fp16.h>

#include <cfloat>

extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

extern "C" __global__ void reverse_blocks(const int* x, int* y, int n) {
  __shared__ int tile[64];
  const int begin = blockIdx.x * blockDim.x, count = min(n - begin, 64);
  const int t = threadIdx.x;
  if (t < count) tile[t] = x[begin + t];
  __syncthreads();
  if (t < count) y[begin + t] = tile[count - 1 - t];
}

extern "C" __global__ void sum_blocks(const float* x, float* sums, int n) {
  __shared__ float parts[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  parts[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = parts[0];
}

extern "C" __global__ void dot(const __half* a, const __half* b, float* out, int n) {
  __shared__ float parts[64];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 64) sum += __half2float(a[i]) * __half2float(b[i]);
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; ++t) sum += parts[t];
  *out = sum;
}

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
}

extern "C" __global__ void copy_rows(const int* x, int* y, int rows, int columns, int x_stride, int y_stride) {
  const long long row = blockIdx.x;
  if (row >= rows) return;
  for (int column = threadIdx.x; column < columns; column += 32)
    y[row * y_stride + column] = x[row * x_stride + column];
}

// Unlike fmaxf, keeps NaN.
__device__ float larger(float a, float b) { return a != a || a > b ? a : b; }

extern "C" __global__ void row_maximum(const float* x, float* out, int rows, int columns) {
  __shared__ float parts[64];
  if (blockIdx.x >= rows) return;
  float most = -INFINITY;
  for (int column = threadIdx.x; column < columns; column += 64) most = larger(most, x[blockIdx.x * columns + column]);
  parts[threadIdx.x] = most;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; ++t) most = larger(most, parts[t]);
  out[blockIdx.x] = most;
}

extern "C" __global__ void add_to_total(const float* x, float* total, int n) {
  const int threads = gridDim.x * blockDim.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) sum += x[i];
  atomicAdd(total, sum);
}

extern "C" __global__ void relu(const float* x, float* y, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  const bool is_aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % sizeof(float4) == 0;
  if (is_aligned && i + 3 < n) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    const float4 above{v.x < 0 ? 0 : v.x, v.y < 0 ? 0 : v.y, v.z < 0 ? 0 : v.z, v.w < 0 ? 0 : v.w};
    *reinterpret_cast<float4*>(y + i) = above;
  } else {
    for (int k = i; k < min(i + 4, n); ++k) y[k] = x[k] < 0 ? 0 : x[k];
  }
}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  if (blockIdx.x >= rows) return;
  const size_t begin = blockIdx.x * static_cast<size_t>(columns);
  float most = -INFINITY, sum = 0.0f;
  for (int column = threadIdx.x; column < columns; column += 32) most = fmaxf(most, x[begin + column]);
  for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, lanes));
  for (int column = threadIdx.x; column < columns; column += 32) sum += expf(x[begin + column] - most);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
  for (int column = threadIdx.x; column < columns; column += 32)
    y[begin + column] = expf(x[begin + column] - most) / sum;
}
