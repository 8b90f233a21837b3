// Eleven kernels that multiply square matrices of n × n floats, n a multiple of 256 and at most 32768: c = a
// × b. The rows of a matrix are contiguous. Each kernel adds one idea to the one before it.
#include "shape.hpp"

#include <cuda_pipeline.h>

using u64 = unsigned long long;

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

// ---- Rungs 4 and 5: a thread computes several elements -------------------------------------------------------------

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

// Rung 4: a thread computes eight elements of a column.
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

// Rung 5: a thread computes a square of 8 × 8 elements.
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
    __syncthreads();
  }
  c += (blockIdx.y * S::kRows + y) * n + blockIdx.x * S::kColumns + x;
#pragma unroll
  for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kThreadColumns; ++j) c[i * n + j] = sum[i][j];
  }
}

// ---- Rungs 6 to 11: 128-bit accesses -------------------------------------------------------------------------------

// Four consecutive floats, to be loaded or stored at once. The first must be aligned to 16 bytes.
__device__ float4& vector(float& first) { return *reinterpret_cast<float4*>(&first); }
__device__ const float4& vector(const float& first) { return *reinterpret_cast<const float4*>(&first); }

// Loads four floats here. A compiler may move an ordinary load to where its result is needed.
__device__ float4 load_now(const float& first) {
  float4 v;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(&first));
  return v;
}

// The tiles in shared memory. The tile of a is transposed, so that the elements of a column are contiguous.
template <class S>
struct alignas(16) Tiles {
  float a[kDepth][S::kRows];
  float b[kDepth][S::kColumns];

  // The place of a row of a in a[k]. The permutation spreads the words that a warp stores at once over all banks.
  static __device__ int place(int k, int row) { return row ^ k / 4 * 8; }
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
        const int j = i % 2 == 0 ? step : S::kThreadColumns - 1 - step;
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

  // Adds sums that another block has stored during this launch. They are read from the L2 cache, which all blocks
  // share.
  __device__ void add(const float* from, int n, const Position& at) {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
      const int row = at.y + i / 4 * at.next_y + i % 4;
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; j += 4) {
        const float4 v = __ldcg(&vector(from[row * n + at.x + j / 4 * at.next_x]));
        sum[i][j] += v.x;
        sum[i][j + 1] += v.y;
        sum[i][j + 2] += v.z;
        sum[i][j + 3] += v.w;
      }
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

// Rung 6: loads and stores of 128 bits. A thread computes the same elements as in rung 5.
extern "C" __global__ void __launch_bounds__(Square::kThreads, 2)
    vectorized(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  constexpr int kAcross = Square::kColumns / Square::kThreadColumns;
  const int y = threadIdx.x / kAcross * Square::kThreadRows, x = threadIdx.x % kAcross * Square::kThreadColumns;
  multiply_with_one_buffer<Square>(a, b, c, n, {y, x, 4, 4});
}

// From rung 7 on, a warp computes a tile of its own. The groups of 4 × 4 elements of neighboring lanes are adjacent.
template <class S>
__device__ Position warp_position() {
  constexpr int kWarpRows = kLaneRows * S::kThreadRows, kWarpColumns = kLaneColumns * S::kThreadColumns;
  constexpr int kAcross = S::kColumns / kWarpColumns;  // warps in a row
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / kAcross * kWarpRows + lane / kLaneColumns * 4, warp % kAcross * kWarpColumns + lane % kLaneColumns * 4,
          kLaneRows * 4, kLaneColumns * 4};
}

// Rung 7: a tile for each warp.
extern "C" __global__ void __launch_bounds__(Square::kThreads, 2)
    warp_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  multiply_with_one_buffer<Square>(a, b, c, n, warp_position<Square>());
}

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

// Rung 8: double buffering.
extern "C" __global__ void __launch_bounds__(Square::kThreads, 2)
    double_buffered(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  multiply_with_two_buffers<Square>(a, b, c, n);
}

// Rung 9: a thread computes 8 × 16 elements.
extern "C" __global__ void __launch_bounds__(Large::kThreads, 1)
    larger(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  multiply_with_two_buffers<Large>(a, b, c, n);
}

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

// Rung 10: fragments are loaded ahead.
extern "C" __global__ void __launch_bounds__(Large::kThreads, 1)
    prefetched(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using S = Large;
  __shared__ Tiles<S> tiles[2];
  const Position at = warp_position<S>();
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles_prefetched(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

// Rung 11: the last `sharing` blocks share the tiles that remain, so that each performs the same number of steps (one
// at least). The blocks before them compute one tile each. A block whose share begins or ends within a tile stores its
// sums in `partial`. The block that is the last to finish its part of a tile adds the sums of all parts, always in the
// same order, and resets the tile's counter.
extern "C" __global__ void __launch_bounds__(Large::kThreads, 1)
    balanced(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int sharing,
             float* partial, unsigned* finished) {
  using S = Large;
  __shared__ Tiles<S> tiles[2];
  const Position at = warp_position<S>();
  const int across = n / S::kColumns, steps = n / kDepth;  // tiles in a row; steps of a tile
  const int whole = gridDim.x - sharing, shared_steps = (n / S::kRows * across - whole) * steps;
  const int sharer = static_cast<int>(blockIdx.x) - whole;  // negative: computes one tile
  auto first_step_of = [=](int i) { return whole * steps + static_cast<int>(u64(shared_steps) * i / sharing); };
  auto sharer_with = [=](int step) {
    return static_cast<int>(((step - whole * steps + 1ull) * sharing - 1) / shared_steps);
  };

  int step = sharer < 0 ? static_cast<int>(blockIdx.x) * steps : first_step_of(sharer);
  const int end = sharer < 0 ? step + steps : first_step_of(sharer + 1);
  while (step < end) {
    const int tile = step / steps, from = step % steps, count = min(steps - from, end - step);
    const int top = tile / across * S::kRows, left = tile % across * S::kColumns;
    step += count;
    Sums<S> sums;
    sums.clear();
    __syncthreads();  // no warp still reads the tiles of the last round
    multiply_tiles_prefetched(a + top * n + from * kDepth, b + from * kDepth * n + left, n, count, tiles, at, sums);
    if (count < steps) {
      // A block has at most two such parts, at the beginning and at the end of its share.
      auto part_of = [=](int i) {
        return partial + u64(2 * i + (first_step_of(i) > tile * steps ? 0 : 1)) * S::kRows * S::kColumns;
      };
      sums.store(part_of(sharer), S::kColumns, at);
      __threadfence();  // the sums are visible before the counter changes
      __syncthreads();
      const int first = sharer_with(tile * steps), last = sharer_with((tile + 1) * steps - 1);
      const bool all_finished = threadIdx.x == 0 && atomicAdd(&finished[tile], 1) == last - first;
      if (!__syncthreads_or(all_finished)) continue;
      __threadfence();
      if (threadIdx.x == 0) finished[tile] = 0;
      sums.clear();
      for (int i = first; i <= last; ++i) sums.add(part_of(i), S::kColumns, at);
    }
    sums.store(c + top * n + left, n, at);
  }
}

// ---- For the host: data, and the verification of a whole result ----------------------------------------------------

// Returns 32 bits that depend on the seed and the position alone.
__device__ unsigned hash(unsigned seed, unsigned position) {
  unsigned bits = position ^ seed * 0x9e3779b9u;
  bits = (bits ^ bits >> 16) * 0x7feb352du;
  bits = (bits ^ bits >> 15) * 0x846ca68bu;
  return bits ^ bits >> 16;
}

// Random integers from -8 to 8.
extern "C" __global__ void fill_with_integers(float* out, unsigned count, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = static_cast<float>(static_cast<int>(hash(seed, i) % 17) - 8);
}

// Normally distributed numbers (Box-Muller transform).
extern "C" __global__ void fill_with_normals(float* out, unsigned count, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float u = (static_cast<float>(hash(seed, i) >> 8) + 0.5f) / 16777216;  // between 0 and 1, neither included
  const float v = static_cast<float>(hash(seed + 1, i) >> 8) / 16777216;
  out[i] = sqrtf(-2 * logf(u)) * cospif(2 * v);
}

// Computes each element in double precision, and the sum of the absolute values of its products.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    reference(const float* __restrict__ a, const float* __restrict__ b, double* __restrict__ c,
              double* __restrict__ magnitude, int n) {
  __shared__ float tile_a[kSide][kSide], tile_b[kSide][kSide];
  const int y = threadIdx.x / kSide, row = blockIdx.y * kSide + y;
  const int x = threadIdx.x % kSide, column = blockIdx.x * kSide + x;
  double sum = 0, absolute = 0;
  for (int first = 0; first < n; first += kSide) {
    tile_a[y][x] = a[row * n + first + x];
    tile_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kSide; ++k) {
      const double product = static_cast<double>(tile_a[y][k]) * tile_b[k][x];  // exact
      sum += product;
      absolute += fabs(product);
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
  magnitude[row * n + column] = absolute;
}

// Adds to *wrong the number of elements that differ from the exact ones by more than `tolerance` times the magnitude.
extern "C" __global__ void count_wrong(const float* c, const double* exact, const double* magnitude, double tolerance,
                                       unsigned count, unsigned* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && !(fabs(c[i] - exact[i]) <= tolerance * magnitude[i])) atomicAdd(wrong, 1);
}
