// The kernels of lesson 04-22 as they were when an H200 counted them: five ways to multiply square matrices of n × n
// floats, n a multiple of 256.
#include <mma.h>

// 1: a thread for each element of c.
extern "C" __global__ void naive(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

// 2: tiles of 32 × 32 in shared memory. Blocks of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024) tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32, x = blockIdx.x * 32 + column, y = blockIdx.y * 32 + row;
  float sum = 0;
  for (int first = 0; first < n; first += 32) {
    tile_a[row][column] = a[y * n + first + column];
    tile_b[row][column] = b[(first + row) * n + x];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += tile_a[row][k] * tile_b[k][column];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// 3: each thread computes 8 × 8 elements. Blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256) registers(const float* a, const float* b, float* c, int n) {
  constexpr int kTile = 128, kDepth = 8;
  __shared__ float tile_a[kDepth][kTile], tile_b[kDepth][kTile];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  float sums[8][8] = {};
  for (int first = 0; first < n; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      tile_a[i % kDepth][i / kDepth] = a[(top + i / kDepth) * n + first + i % kDepth];
      tile_b[i / kTile][i % kTile] = b[(first + i / kTile) * n + left + i % kTile];
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      float from_a[8], from_b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) from_a[i] = tile_a[k][16 * i + y];
#pragma unroll
      for (int j = 0; j < 8; ++j) from_b[j] = tile_b[k][16 * j + x];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += from_a[i] * from_b[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) c[(top + 16 * i + y) * n + left + 16 * j + x] = sums[i][j];
  }
}

// 4: vectorized loads, double buffering, and 8 × 16 elements per thread. Long because all steps share registers.
extern "C" __global__ void __launch_bounds__(256, 1) vectors(const float* a, const float* b, float* c, int n) {
  constexpr int kRows = 128, kColumns = 256, kDepth = 16;
  __shared__ __align__(16) float tile_a[2][kDepth][kRows], tile_b[2][kDepth][kColumns];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int y = warp / 4 * 64 + lane / 4 * 4, x = warp % 4 * 64 + lane % 4 * 4;  // the thread's first vector
  a += blockIdx.y * kRows * n;
  b += blockIdx.x * kColumns;

  // A thread loads two vectors of a and four of b.
  const int row_a = threadIdx.x / 4, column_a = threadIdx.x % 4 * 4, row_b = threadIdx.x / 64,
            column_b = threadIdx.x % 64 * 4;
  float4 next_a[2], next_b[4];
  auto fetch = [&](int first) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      next_a[i] = *reinterpret_cast<const float4*>(&a[(row_a + 64 * i) * n + first + column_a]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      next_b[i] = *reinterpret_cast<const float4*>(&b[(first + row_b + 4 * i) * n + column_b]);
    }
  };
  // The tile of a is transposed, and its rows are permuted, so that a warp stores 32 elements to 32 banks.
  auto place = [](int k, int row) { return row ^ k / 4 * 8; };
  auto put = [&](int half) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = place(column_a, row_a + 64 * i);
      tile_a[half][column_a][row] = next_a[i].x;
      tile_a[half][column_a + 1][row] = next_a[i].y;
      tile_a[half][column_a + 2][row] = next_a[i].z;
      tile_a[half][column_a + 3][row] = next_a[i].w;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      *reinterpret_cast<float4*>(&tile_b[half][row_b + 4 * i][column_b]) = next_b[i];
    }
  };

  float sums[8][16] = {};
  fetch(0);
  put(0);
  __syncthreads();
  for (int first = 0, half = 0; first < n; first += kDepth, half ^= 1) {
    if (first + kDepth < n) fetch(first + kDepth);
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float4 from_a[2], from_b[4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        from_a[i] = *reinterpret_cast<const float4*>(&tile_a[half][k][place(k, y + 32 * i)]);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) from_b[j] = *reinterpret_cast<const float4*>(&tile_b[half][k][x + 16 * j]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
          sums[i][j] += reinterpret_cast<const float*>(from_a)[i] * reinterpret_cast<const float*>(from_b)[j];
        }
      }
    }
    if (first + kDepth < n) put(half ^ 1);
    __syncthreads();
  }
  c += (blockIdx.y * kRows + y) * n + blockIdx.x * kColumns + x;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      *reinterpret_cast<float4*>(&c[(i / 4 * 32 + i % 4) * n + 16 * j]) =
          make_float4(sums[i][4 * j], sums[i][4 * j + 1], sums[i][4 * j + 2], sums[i][4 * j + 3]);
    }
  }
}

// 5: tensor cores, in half precision.
extern "C" __global__ void __launch_bounds__(256) tensor(const float* a, const float* b, float* c, int n) {
  namespace wmma = nvcuda::wmma;
  constexpr int kTile = 128, kDepth = 32, kPadded = 8;
  __shared__ __align__(32) __half tile_a[kTile][kDepth + kPadded], tile_b[kDepth][kTile + kPadded];
  const int warp = threadIdx.x / 32, top = blockIdx.y * kTile, left = blockIdx.x * kTile, y = warp / 2 * 32,
            x = warp % 2 * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
  }
  for (int first = 0; first < n; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      tile_a[i / kDepth][i % kDepth] = __float2half(a[(top + i / kDepth) * n + first + i % kDepth]);
      tile_b[i / kTile][i % kTile] = __float2half(b[(first + i / kTile) * n + left + i % kTile]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> from_a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> from_b[4];
#pragma unroll
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(from_a[i], &tile_a[y + 16 * i][k], kDepth + kPadded);
#pragma unroll
      for (int j = 0; j < 4; ++j) wmma::load_matrix_sync(from_b[j], &tile_b[k][x + 16 * j], kTile + kPadded);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) wmma::mma_sync(sums[i][j], from_a[i], from_b[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      wmma::store_matrix_sync(&c[(top + y + 16 * i) * n + left + x + 16 * j], sums[i][j], n, wmma::mem_row_major);
    }
  }
}
