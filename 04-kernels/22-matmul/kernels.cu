// Kernels that multiply square matrices of n × n floats, n a multiple of 128 and at most 32768: c = a × b. The rows of
// a matrix are contiguous. Each kernel adds one idea to the one before it.
#include "04-kernels/exact.hpp"
#include "register.hpp"
#include "shape.hpp"

// ---- Rungs 1 and 2: a thread for each element ----------------------------------------------------------------------

// Returns the product of a row of a and a column of b.
__device__ float dot(const float* __restrict__ row_of_a, const float* __restrict__ column_of_b, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += row_of_a[k] * column_of_b[k * n];
  return sum;
}

// Rung 1: consecutive lanes compute consecutive elements of a column of c.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  const int row = blockIdx.y * kSide + threadIdx.x % kSide;
  const int column = blockIdx.x * kSide + threadIdx.x / kSide;
  c[row * n + column] = dot(a + row * n, b + column, n);
}

// Rung 2: consecutive lanes compute consecutive elements of a row of c.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    coalesced(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  const int row = blockIdx.y * kSide + threadIdx.x / kSide;
  const int column = blockIdx.x * kSide + threadIdx.x % kSide;
  c[row * n + column] = dot(a + row * n, b + column, n);
}

// ---- Rung 3: tiles in shared memory --------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(kSide* kSide)
    tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ float tile_a[kSide][kSide], tile_b[kSide][kSide];
  const int y = threadIdx.x / kSide, row = blockIdx.y * kSide + y;
  const int x = threadIdx.x % kSide, column = blockIdx.x * kSide + x;
  float sum = 0;
  for (int first = 0; first < n; first += kSide) {
    tile_a[y][x] = a[row * n + first + x];
    tile_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSide; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// ---- A control run: a thread computes eight elements of a column ---------------------------------------------------

extern "C" __global__ void __launch_bounds__(Strip::kThreads)
    register_1d(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using S = Strip;
  __shared__ float tile_a[S::kRows][kDepth], tile_b[kDepth][S::kColumns];
  const int x = threadIdx.x % S::kColumns, y = threadIdx.x / S::kColumns * S::kThreadRows;
  a += blockIdx.y * S::kRows * n;
  b += blockIdx.x * S::kColumns;
  float sum[S::kThreadRows] = {};
  for (int first = 0; first < n; first += kDepth) {
    load_tiles<S>(a + first, b + first * n, n, tile_a, tile_b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const float from_b = tile_b[k][x];
#pragma unroll
      for (int i = 0; i < S::kThreadRows; ++i) sum[i] += tile_a[y + i][k] * from_b;
    }
    __syncthreads();
  }
  c += (blockIdx.y * S::kRows + y) * n + blockIdx.x * S::kColumns + x;
#pragma unroll
  for (int i = 0; i < S::kThreadRows; ++i) c[i * n] = sum[i];
}
