// Kernels that multiply square matrices of n × n floats, n a multiple of 256 and at most 32768: c = a × b. The rows of
// a matrix are contiguous. Each kernel adds one idea to the one before it; the first one is register_2d, from 04-22.
#include "04-kernels/22-matmul/register.hpp"
#include "04-kernels/exact.hpp"
#include "shape.hpp"

#include <cuda_pipeline.h>

using u64 = unsigned long long;

// A kernel whose blocks have the threads of a shape; `blocks` of them must fit on a multiprocessor.
#define KERNEL(name, shape, blocks)                                     \
  extern "C" __global__ void __launch_bounds__(shape::kThreads, blocks) \
      name(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)

// Four consecutive floats, to be loaded or stored at once. The first must be aligned to 16 bytes.
__device__ float4& vector(float& first) { return *reinterpret_cast<float4*>(&first); }
__device__ const float4& vector(const float& first) { return *reinterpret_cast<const float4*>(&first); }

// ---- vectorized: the same tiles as in register_2d, with 128-bit accesses -------------------------------------------

// Loads four floats here. A compiler may move an ordinary load to where its result is needed.
__device__ float4 load_now(const float& first) {
  float4 v;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(&first));
  return v;
}

// A thread first loads all of its vectors, and then stores them, so that its loads are in flight at the same time.
template <class S>
__device__ void load_tile_vectors(const float* a, const float* b, int n, float (&tile_a)[S::kRows][kDepth],
                                  float (&tile_b)[kDepth][S::kColumns]) {
  constexpr int kOfA = S::kRows * kDepth / 4 / S::kThreads, kOfB = S::kColumns * kDepth / 4 / S::kThreads;
  const auto first = [](int i) { return static_cast<int>(threadIdx.x + i * S::kThreads) * 4; };  // element of vector i
  float4 of_a[kOfA], of_b[kOfB];
#pragma unroll
  for (int i = 0; i < kOfA; ++i) of_a[i] = load_now(a[first(i) / kDepth * n + first(i) % kDepth]);
#pragma unroll
  for (int i = 0; i < kOfB; ++i) of_b[i] = load_now(b[first(i) / S::kColumns * n + first(i) % S::kColumns]);
#pragma unroll
  for (int i = 0; i < kOfA; ++i) vector(tile_a[first(i) / kDepth][first(i) % kDepth]) = of_a[i];
#pragma unroll
  for (int i = 0; i < kOfB; ++i) vector(tile_b[first(i) / S::kColumns][first(i) % S::kColumns]) = of_b[i];
}

KERNEL(vectorized, Square, 2) {
  using S = Square;
  __shared__ alignas(16) float tile_a[S::kRows][kDepth], tile_b[kDepth][S::kColumns];
  constexpr int kAcross = S::kColumns / S::kThreadColumns;  // threads in a row
  const int x = threadIdx.x % kAcross * S::kThreadColumns, y = threadIdx.x / kAcross * S::kThreadRows;
  a += blockIdx.y * S::kRows * n;
  b += blockIdx.x * S::kColumns;
  alignas(16) float sum[S::kThreadRows][S::kThreadColumns] = {};
  for (int first = 0; first < n; first += kDepth) {
    load_tile_vectors<S>(a + first, b + first * n, n, tile_a, tile_b);
    __syncthreads();
    multiply_tiles<S>(tile_a, tile_b, y, x, sum);
    __syncthreads();
  }
  c += (blockIdx.y * S::kRows + y) * n + blockIdx.x * S::kColumns + x;
#pragma unroll
  for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kThreadColumns; j += 4) vector(c[i * n + j]) = vector(sum[i][j]);
  }
}

// ---- transposed and later rungs: a column of a is contiguous in shared memory ---------------------------------------

// The tiles in shared memory. The tile of a is transposed, so that the elements of a column are contiguous.
template <class S>
struct alignas(16) Tiles {
  float a[kDepth][S::kRows];
  float b[kDepth][S::kColumns];

  // The place of a row of a in a[k]. The permutation spreads the words that a warp stores at once over all banks.
  static __device__ int place(int k, int row) { return kPermuted<S> ? row ^ k / 4 * 8 : row; }
};

// Part of a tile of a, on its way from global to shared memory in the registers of one thread.
template <class S>
struct PartOfA {
  static constexpr int kAcross = kDepth / 4, kVectors = S::kRows * kAcross / S::kThreads;
  float4 part[kVectors];

  static __device__ int row(int i) { return threadIdx.x / kAcross + i * (S::kThreads / kAcross); }
  static __device__ int column() { return threadIdx.x % kAcross * 4; }

  __device__ void load(const float* a, int n) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) part[i] = load_now(a[u64(row(i)) * n + column()]);
  }
  __device__ void store(Tiles<S>& tiles) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int k = column(), place = tiles.place(k, row(i));
      tiles.a[k][place] = part[i].x;
      tiles.a[k + 1][place] = part[i].y;
      tiles.a[k + 2][place] = part[i].z;
      tiles.a[k + 3][place] = part[i].w;
    }
  }
};

// The same for b, with ordinary or with asynchronous copies.
template <class S>
struct PartOfB {
  static constexpr int kAcross = S::kColumns / 4, kVectors = kDepth * kAcross / S::kThreads;

  static __device__ int row(int i) { return threadIdx.x / kAcross + i * (S::kThreads / kAcross); }
  static __device__ int column() { return threadIdx.x % kAcross * 4; }

  static __device__ void copy(Tiles<S>& tiles, const float* b, int n) {
    float4 part[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) part[i] = load_now(b[u64(row(i)) * n + column()]);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) vector(tiles.b[row(i)][column()]) = part[i];
  }
  static __device__ void start_copy(Tiles<S>& tiles, const float* b, int n) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      __pipeline_memcpy_async(&tiles.b[row(i)][column()], &b[u64(row(i)) * n + column()], sizeof(float4));
    }
    __pipeline_commit();
  }
  static __device__ void finish_copy() { __pipeline_wait_prior(0); }
};

// Which elements of the block's tile a thread computes: groups of 4 × 4. The first begins in row y and column x, and
// the next ones are this many rows and columns further.
struct Position {
  int y, x, next_y, next_x;
};

// What a thread loads from the tiles for one k: some elements of a column of a, and of a row of b.
template <class S>
struct Fragment {
  alignas(16) float a[S::kThreadRows], b[S::kThreadColumns];

  __device__ void load(const Tiles<S>& tiles, int k, const Position& at) {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; i += 4) {
      vector(a[i]) = vector(tiles.a[k][tiles.place(k, at.y + i / 4 * at.next_y)]);
    }
#pragma unroll
    for (int j = 0; j < S::kThreadColumns; j += 4) vector(b[j]) = vector(tiles.b[k][at.x + j / 4 * at.next_x]);
  }
};

// The register tile of one thread.
template <class S>
struct Sums {
  float sum[S::kThreadRows][S::kThreadColumns];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; ++j) sum[i][j] = 0;
    }
  }

  // Rows alternate in direction, so that consecutive multiply-adds have an operand in common.
  __device__ void multiply(const Fragment<S>& from) {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
      for (int step = 0; step < S::kThreadColumns; ++step) {
        const int j = i % 2 == 0 || kStraight<S> ? step : S::kThreadColumns - 1 - step;
        sum[i][j] += from.a[i] * from.b[j];
      }
    }
  }

  // Multiplies the tiles in shared memory.
  __device__ void multiply(const Tiles<S>& tiles, const Position& at) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      Fragment<S> fragment;
      fragment.load(tiles, k, at);
      multiply(fragment);
    }
  }

  // Stores the sums. `to` points to the first element of the block's tile, in a matrix with rows of n floats.
  __device__ void store(float* to, int n, const Position& at) const {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
      const int row = at.y + i / 4 * at.next_y + i % 4;
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; j += 4) vector(to[row * n + at.x + j / 4 * at.next_x]) = vector(sum[i][j]);
    }
  }
};

// A block multiplies `steps` tiles of a and b; both pointers are to the first ones.
template <class S>
__device__ void multiply_tiles(const float* a, const float* b, int n, int steps, Tiles<S>& tiles, const Position& at,
                               Sums<S>& sums) {
  for (int step = 0; step < steps; ++step) {
    PartOfA<S> part;
    part.load(a + step * kDepth, n);
    PartOfB<S>::copy(tiles, b + step * kDepth * n, n);
    part.store(tiles);
    __syncthreads();
    sums.multiply(tiles, at);
    __syncthreads();
  }
}

template <class S>
__device__ void multiply_with_one_buffer(const float* a, const float* b, float* c, int n, const Position& at) {
  __shared__ Tiles<S> tiles;
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

// `transposed`: a thread computes the same elements as in the rungs before.
template <class S>
__device__ Position square_position() {
  constexpr int kAcross = S::kColumns / S::kThreadColumns;
  return {static_cast<int>(threadIdx.x) / kAcross * S::kThreadRows,
          static_cast<int>(threadIdx.x) % kAcross * S::kThreadColumns, 4, 4};
}
KERNEL(transposed, Square, 2) { multiply_with_one_buffer<Square>(a, b, c, n, square_position<Square>()); }
KERNEL(unpermuted, Unpermuted, 2) { multiply_with_one_buffer<Unpermuted>(a, b, c, n, square_position<Unpermuted>()); }

// From `warp_tiled` on, a warp computes a tile of its own. The groups of 4 × 4 elements of neighboring lanes are
// adjacent.
template <class S>
__device__ Position warp_position() {
  constexpr int kWarpRows = kLaneRows * S::kThreadRows, kWarpColumns = kLaneColumns * S::kThreadColumns;
  constexpr int kAcross = S::kColumns / kWarpColumns;  // warps in a row
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / kAcross * kWarpRows + lane / kLaneColumns * 4, warp % kAcross * kWarpColumns + lane % kLaneColumns * 4,
          kLaneRows * 4, kLaneColumns * 4};
}

KERNEL(warp_tiled, Square, 2) { multiply_with_one_buffer<Square>(a, b, c, n, warp_position<Square>()); }
KERNEL(larger_one_buffer, Large, 1) { multiply_with_one_buffer<Large>(a, b, c, n, warp_position<Large>()); }

// While the tiles of one step are being multiplied, those of the next are loaded into a second buffer. So one barrier
// per step is enough.
template <class S>
__device__ void multiply_tiles_overlapped(const float* a, const float* b, int n, int steps, Tiles<S> (&tiles)[2],
                                          const Position& at, Sums<S>& sums) {
  PartOfA<S> part;
  part.load(a, n);
  PartOfB<S>::start_copy(tiles[0], b, n);
  part.store(tiles[0]);
  PartOfB<S>::finish_copy();
  __syncthreads();
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    Tiles<S>&now = tiles[step % 2], &next = tiles[(step + 1) % 2];
    const bool more = step + 1 < steps;
    a += kDepth;
    b += kDepth * n;
    if (more) {
      part.load(a, n);
      PartOfB<S>::start_copy(next, b, n);
    }
    sums.multiply(now, at);
    if (more) part.store(next);
    PartOfB<S>::finish_copy();
    __syncthreads();
  }
}

template <class S>
__device__ void multiply_with_two_buffers(const float* a, const float* b, float* c, int n) {
  __shared__ Tiles<S> tiles[2];
  const Position at = warp_position<S>();
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles_overlapped(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

KERNEL(double_buffered, Square, 2) { multiply_with_two_buffers<Square>(a, b, c, n); }
KERNEL(larger, Large, 1) { multiply_with_two_buffers<Large>(a, b, c, n); }

// The same as multiply_tiles_overlapped, but the fragments are double-buffered, too: while those of one k are being
// multiplied, those of the next are loaded.
template <class S>
__device__ void multiply_tiles_prefetched(const float* a, const float* b, int n, int steps, Tiles<S> (&tiles)[2],
                                          const Position& at, Sums<S>& sums) {
  PartOfA<S> part;
  part.load(a, n);
  PartOfB<S>::start_copy(tiles[0], b, n);
  part.store(tiles[0]);
  PartOfB<S>::finish_copy();
  __syncthreads();
  a += kDepth;
  b += kDepth * n;
  Fragment<S> fragments[2];
  fragments[0].load(tiles[0], 0, at);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    Tiles<S>&now = tiles[step % 2], &next = tiles[(step + more) % 2];
    if (more) {
      part.load(a, n);
      PartOfB<S>::start_copy(next, b, n);
      a += kDepth;
      b += kDepth * n;
    }
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      if (k == kDepth - 1) {
        if (more) part.store(next);
        PartOfB<S>::finish_copy();
        __syncthreads();
      }
      fragments[(k + 1) % 2].load(k == kDepth - 1 ? next : now, (k + 1) % kDepth, at);
      sums.multiply(fragments[k % 2]);
    }
  }
}

template <class S>
__device__ void multiply_with_two_buffers_prefetched(const float* a, const float* b, float* c, int n) {
  __shared__ Tiles<S> tiles[2];
  const Position at = warp_position<S>();
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles_prefetched(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

KERNEL(prefetched, Large, 1) { multiply_with_two_buffers_prefetched<Large>(a, b, c, n); }
KERNEL(straight, Straight, 1) { multiply_with_two_buffers_prefetched<Straight>(a, b, c, n); }
