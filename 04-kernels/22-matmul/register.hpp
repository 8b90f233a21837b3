// The rung register_2d: a thread computes a square of 8 × 8 elements. The last rung of 04-22, and the first of 04-23.
#pragma once
#include "shape.hpp"

// Loads a tile of S::kRows × kDepth elements of a and one of kDepth × S::kColumns elements of b.
template <class S>
__device__ void load_tiles(const float* __restrict__ a, const float* __restrict__ b, int n,
                           float (&tile_a)[S::kRows][kDepth], float (&tile_b)[kDepth][S::kColumns]) {
#pragma unroll
  for (int i = threadIdx.x; i < S::kRows * kDepth; i += S::kThreads) {
    tile_a[i / kDepth][i % kDepth] = a[i / kDepth * n + i % kDepth];
  }
#pragma unroll
  for (int i = threadIdx.x; i < kDepth * S::kColumns; i += S::kThreads) {
    tile_b[i / S::kColumns][i % S::kColumns] = b[i / S::kColumns * n + i % S::kColumns];
  }
}

// Multiplies the tiles in shared memory. The thread's sums begin in row y and column x of the block's tile of c.
template <class S>
__device__ void multiply_tiles(const float (&tile_a)[S::kRows][kDepth], const float (&tile_b)[kDepth][S::kColumns],
                               int y, int x, float (&sum)[S::kThreadRows][S::kThreadColumns]) {
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    float from_a[S::kThreadRows], from_b[S::kThreadColumns];
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) from_a[i] = tile_a[y + i][k];
#pragma unroll
    for (int j = 0; j < S::kThreadColumns; ++j) from_b[j] = tile_b[k][x + j];
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; ++j) sum[i][j] += from_a[i] * from_b[j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(Square::kThreads, 2)
    register_2d(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using S = Square;
  __shared__ float tile_a[S::kRows][kDepth], tile_b[kDepth][S::kColumns];
  constexpr int kAcross = S::kColumns / S::kThreadColumns;  // threads in a row
  const int x = threadIdx.x % kAcross * S::kThreadColumns, y = threadIdx.x / kAcross * S::kThreadRows;
  a += blockIdx.y * S::kRows * n;
  b += blockIdx.x * S::kColumns;
  float sum[S::kThreadRows][S::kThreadColumns] = {};
  for (int first = 0; first < n; first += kDepth) {
    load_tiles<S>(a + first, b + first * n, n, tile_a, tile_b);
    __syncthreads();
    multiply_tiles<S>(tile_a, tile_b, y, x, sum);
    __syncthreads();
  }
  c += (blockIdx.y * S::kRows + y) * n + blockIdx.x * S::kColumns + x;
#pragma unroll
  for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kThreadColumns; ++j) c[i * n + j] = sum[i][j];
  }
}
