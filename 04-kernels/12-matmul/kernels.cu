// A ladder: ten kernels that multiply square matrices of n × n floats, n a multiple of 256 and at most 32768: c = a ×
// b. The rows of a matrix are contiguous. Each kernel changes one thing in the one before it.
#include "shape.hpp"

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
extern "C" __global__ void __launch_bounds__(Square::kThreads)
    register_2d(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using S = Square;
  __shared__ float tile_a[S::kRows][kDepth], tile_b[kDepth][S::kColumns];
  constexpr int kAcross = S::kColumns / S::kThreadColumns;  // threads side by side
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

// ---- Rungs 6 to 10: 128-bit accesses -------------------------------------------------------------------------------

// Four consecutive floats, to be loaded or stored at once. The first must be aligned to 16 bytes.
__device__ float4& vector(float& first) { return *reinterpret_cast<float4*>(&first); }
__device__ const float4& vector(const float& first) { return *reinterpret_cast<const float4*>(&first); }

// The tiles in shared memory. The tile of a is transposed, so that the elements of a column are contiguous.
template <class S>
struct alignas(16) Tiles {
  float a[kDepth][S::kRows];
  float b[kDepth][S::kColumns];

  // The column of a[k] that contains a row. The permutation spreads the words that a warp stores at once over all
  // banks.
  static __device__ int place(int k, int row) { return row ^ k / 4 * 8; }
};

// The elements of a and b that a thread carries from global to shared memory, in registers.
template <class S>
struct Carried {
  static constexpr int kVectorsOfA = S::kRows * kDepth / 4 / S::kThreads;
  static constexpr int kVectorsOfB = kDepth * S::kColumns / 4 / S::kThreads;
  float4 a[kVectorsOfA], b[kVectorsOfB];

  __device__ void load(const float* __restrict__ from_a, const float* __restrict__ from_b, int n) {
#pragma unroll
    for (int i = 0; i < kVectorsOfA; ++i) a[i] = vector(from_a[row_of_a(i) * n + column_of_a()]);
#pragma unroll
    for (int i = 0; i < kVectorsOfB; ++i) b[i] = vector(from_b[row_of_b(i) * n + column_of_b()]);
  }
  __device__ void store(Tiles<S>& tiles) const {
#pragma unroll
    for (int i = 0; i < kVectorsOfA; ++i) {
      const int k = column_of_a(), place = tiles.place(k, row_of_a(i));
      tiles.a[k][place] = a[i].x;
      tiles.a[k + 1][place] = a[i].y;
      tiles.a[k + 2][place] = a[i].z;
      tiles.a[k + 3][place] = a[i].w;
    }
#pragma unroll
    for (int i = 0; i < kVectorsOfB; ++i) vector(tiles.b[row_of_b(i)][column_of_b()]) = b[i];
  }

 private:
  static __device__ int row_of_a(int i) { return threadIdx.x / (kDepth / 4) + i * (S::kThreads / (kDepth / 4)); }
  static __device__ int column_of_a() { return threadIdx.x % (kDepth / 4) * 4; }
  static __device__ int row_of_b(int i) {
    return threadIdx.x / (S::kColumns / 4) + i * (S::kThreads / (S::kColumns / 4));
  }
  static __device__ int column_of_b() { return threadIdx.x % (S::kColumns / 4) * 4; }
};

// Which elements of the block's tile a thread computes: groups of 4 × 4. The first begins in row y and column x, and
// the next ones are so many rows and columns further.
struct Position {
  int y, x, next_y, next_x;
};

// The sums of one thread.
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

  // Multiplies the tiles in shared memory.
  __device__ void multiply(const Tiles<S>& tiles, const Position& at) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      alignas(16) float from_a[S::kThreadRows], from_b[S::kThreadColumns];
#pragma unroll
      for (int i = 0; i < S::kThreadRows; i += 4) {
        vector(from_a[i]) = vector(tiles.a[k][tiles.place(k, at.y + i / 4 * at.next_y)]);
      }
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; j += 4) vector(from_b[j]) = vector(tiles.b[k][at.x + j / 4 * at.next_x]);
#pragma unroll
      for (int i = 0; i < S::kThreadRows; ++i) {
#pragma unroll
        for (int j = 0; j < S::kThreadColumns; ++j) sum[i][j] += from_a[i] * from_b[j];
      }
    }
  }

  // Adds sums that another block has stored during this launch. They are read from the L2 cache, which all blocks
  // share.
  __device__ void add(const float* stored, int n, const Position& at) {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
      const int row = at.y + i / 4 * at.next_y + i % 4;
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; j += 4) {
        const float4 v = __ldcg(&vector(stored[row * n + at.x + j / 4 * at.next_x]));
        sum[i][j] += v.x;
        sum[i][j + 1] += v.y;
        sum[i][j + 2] += v.z;
        sum[i][j + 3] += v.w;
      }
    }
  }

  // Stores the sums; c points to the block's tile.
  __device__ void store(float* c, int n, const Position& at) const {
#pragma unroll
    for (int i = 0; i < S::kThreadRows; ++i) {
      const int row = at.y + i / 4 * at.next_y + i % 4;
#pragma unroll
      for (int j = 0; j < S::kThreadColumns; j += 4) vector(c[row * n + at.x + j / 4 * at.next_x]) = vector(sum[i][j]);
    }
  }
};

// A block multiplies `steps` tiles of a and b; both pointers are to the first ones.
template <class S>
__device__ void multiply_tiles(const float* __restrict__ a, const float* __restrict__ b, int n, int steps,
                               Tiles<S>& tiles, const Position& at, Sums<S>& sums) {
  Carried<S> carried;
  for (int step = 0; step < steps; ++step) {
    carried.load(a + step * kDepth, b + step * kDepth * n, n);
    carried.store(tiles);
    __syncthreads();
    sums.multiply(tiles, at);
    __syncthreads();
  }
}

// Rung 6: loads and stores of 128 bits. A thread computes the same elements as in rung 5.
extern "C" __global__ void __launch_bounds__(Square::kThreads)
    vectorized(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using S = Square;
  __shared__ Tiles<S> tiles;
  constexpr int kAcross = S::kColumns / S::kThreadColumns;
  const int x = threadIdx.x % kAcross, y = threadIdx.x / kAcross;
  const Position at{y * S::kThreadRows, x * S::kThreadColumns, 4, 4};
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

// From rung 7 on, a warp of 8 × 4 threads computes a tile of its own, and its lanes access adjacent vectors: a group of
// 4 × 4 of one thread is next to that of the next.
template <class S>
__device__ Position warp_position() {
  constexpr int kWarpRows = 8 * S::kThreadRows, kWarpColumns = 4 * S::kThreadColumns;
  constexpr int kAcross = S::kColumns / kWarpColumns;  // warps side by side
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / kAcross * kWarpRows + lane / 4 * 4, warp % kAcross * kWarpColumns + lane % 4 * 4, 32, 16};
}

template <class S>
__device__ void product_by_warps(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                 int n) {
  __shared__ Tiles<S> tiles;
  const Position at = warp_position<S>();
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

// Rung 7: a tile for each warp.
extern "C" __global__ void __launch_bounds__(Square::kThreads)
    warp_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  product_by_warps<Square>(a, b, c, n);
}

// Rung 8: larger tiles, so a thread computes 8 × 16 elements.
extern "C" __global__ void __launch_bounds__(Large::kThreads, 1)
    larger(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  product_by_warps<Large>(a, b, c, n);
}

// While the tiles of one step are being multiplied, the elements of the next are on their way. They go into a second
// pair of tiles, so one barrier per step is enough.
template <class S>
__device__ void multiply_tiles_overlapped(const float* __restrict__ a, const float* __restrict__ b, int n, int steps,
                                          Tiles<S> (&tiles)[2], const Position& at, Sums<S>& sums) {
  Carried<S> carried;
  carried.load(a, b, n);
  carried.store(tiles[0]);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) carried.load(a + (step + 1) * kDepth, b + (step + 1) * kDepth * n, n);
    sums.multiply(tiles[step % 2], at);
    if (more) carried.store(tiles[(step + 1) % 2]);
    __syncthreads();
  }
}

// Rung 9: double buffering.
extern "C" __global__ void __launch_bounds__(Large::kThreads, 1)
    double_buffered(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  using S = Large;
  __shared__ Tiles<S> tiles[2];
  const Position at = warp_position<S>();
  const int top = blockIdx.y * S::kRows, left = blockIdx.x * S::kColumns;
  Sums<S> sums;
  sums.clear();
  multiply_tiles_overlapped(a + top * n, b + left, n, n / kDepth, tiles, at, sums);
  sums.store(c + top * n + left, n, at);
}

// Rung 10: every block gets the same number of steps, whichever tiles they belong to. A block whose share begins or
// ends within a tile stores its sums in `partial`. The block that finishes the tile last adds the partial sums, always
// in the same order, and resets the tile's counter. There must not be more blocks than steps.
extern "C" __global__ void __launch_bounds__(Large::kThreads, 1)
    balanced(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, float* partial,
             unsigned* finished) {
  using S = Large;
  __shared__ Tiles<S> tiles[2];
  const Position at = warp_position<S>();
  const int tiles_across = n / S::kColumns, steps = n / kDepth;  // steps of a whole tile
  const u64 all_steps = u64(n / S::kRows) * tiles_across * steps;
  auto first_step_of = [=](int block) { return static_cast<int>(all_steps * block / gridDim.x); };
  auto block_with = [=](int step) { return static_cast<int>(((step + 1ull) * gridDim.x - 1) / all_steps); };

  const int end = first_step_of(blockIdx.x + 1);
  for (int step = first_step_of(blockIdx.x), count; step < end; step += count) {
    const int tile = step / steps, from = step % steps;
    count = min(steps - from, end - step);
    const int top = tile / tiles_across * S::kRows, left = tile % tiles_across * S::kColumns;
    Sums<S> sums;
    sums.clear();
    multiply_tiles_overlapped(a + top * n + from * kDepth, b + left + from * kDepth * n, n, count, tiles, at, sums);
    if (count < steps) {
      // A block has at most two such tiles, the first and the last of its share.
      auto partial_of = [=](int block) {
        const int number = 2 * block + (first_step_of(block) > tile * steps ? 0 : 1);
        return partial + u64(number) * S::kRows * S::kColumns;
      };
      sums.store(partial_of(blockIdx.x), S::kColumns, at);
      __threadfence();  // the sums are visible before the counter changes
      __syncthreads();
      const int first_block = block_with(tile * steps), last_block = block_with((tile + 1) * steps - 1);
      const unsigned others = last_block - first_block;
      const bool last = threadIdx.x == 0 && atomicAdd(&finished[tile], 1) == others;
      if (!__syncthreads_or(last)) continue;
      __threadfence();
      if (threadIdx.x == 0) finished[tile] = 0;
      sums.clear();
      for (int block = first_block; block <= last_block; ++block) sums.add(partial_of(block), S::kColumns, at);
    }
    sums.store(c + top * n + left, n, at);
  }
}

// ---- For the host: data, and the verification of a whole result
// ------------------------------------------------------

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
