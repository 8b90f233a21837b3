// Kernels with one fault each, of the kind that language models write. sound.cu has the same kernels without them.

#include <cuda_fp16.h>

#include <cfloat>

extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = factor * x[i];  // no bounds test
}

extern "C" __global__ void reverse_blocks(const int* x, int* y, int n) {
  __shared__ int tile[64];
  const int begin = blockIdx.x * blockDim.x, count = min(n - begin, 64);
  const int t = threadIdx.x;
  if (t < count) tile[t] = x[begin + t];
  if (t < count) y[begin + t] = tile[count - 1 - t];  // no barrier before
}

extern "C" __global__ void sum_blocks(const float* x, float* sums, int n) {
  __shared__ float parts[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n) parts[t] = x[i];  // the other threads leave theirs uninitialized
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = parts[0];
}

extern "C" __global__ void dot(const __half* a, const __half* b, float* out, int n) {
  __shared__ __half parts[64];
  __half sum = __float2half(0.0f);  // half precision
  for (int i = threadIdx.x; i < n; i += 64) sum = __hadd(sum, __hmul(a[i], b[i]));
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; ++t) sum = __hadd(sum, parts[t]);
  *out = __half2float(sum);
}

extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns)
    y[column * columns + row] = x[row * columns + column];  // a row of y has `rows` elements
}

extern "C" __global__ void copy_rows(const int* x, int* y, int rows, int columns, int x_stride, int y_stride) {
  const int row = blockIdx.x;
  if (row >= rows) return;
  for (int column = threadIdx.x; column < columns; column += 32) {
    y[row * y_stride + column] = x[row * x_stride + column];  // the products may not fit into an int
  }
}

extern "C" __global__ void row_maximum(const float* x, float* out, int rows, int columns) {
  __shared__ float parts[64];
  if (blockIdx.x >= rows) return;
  float most = -INFINITY;
  for (int column = threadIdx.x; column < columns; column += 64) most = fmaxf(most, x[blockIdx.x * columns + column]);
  parts[threadIdx.x] = most;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; ++t) most = fmaxf(most, parts[t]);  // fmaxf prefers a number to NaN
  out[blockIdx.x] = most;
}

extern "C" __global__ void add_to_total(const float* x, float* total, int n) {
  const int threads = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n / threads; ++k) sum += x[k * threads + first];  // drops what is left of n
  atomicAdd(total, sum);
}

extern "C" __global__ void relu(const float* x, float* y, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {  // assumes that both arrays begin at a multiple of 16 bytes
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    const float4 above{v.x < 0 ? 0 : v.x, v.y < 0 ? 0 : v.y, v.z < 0 ? 0 : v.z, v.w < 0 ? 0 : v.w};
    *reinterpret_cast<float4*>(y + i) = above;
  } else {
    for (int k = i; k < n; ++k) y[k] = x[k] < 0 ? 0 : x[k];
  }
}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
  if (blockIdx.x >= rows) return;
  const float* row = x + blockIdx.x * static_cast<size_t>(columns);
  float sum = 0.0f;
  for (int column = threadIdx.x; column < columns; column += 32)
    sum += expf(row[column]);  // overflows: the maximum is not subtracted
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
  for (int column = threadIdx.x; column < columns; column += 32)
    y[blockIdx.x * static_cast<size_t>(columns) + column] = expf(row[column]) / sum;
}
