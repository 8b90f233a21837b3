// Six kernels that transpose a square matrix of n × n elements, n a multiple of 128: out[x][y] = in[y][x].
// Each changes one thing in the one before it, and each exists for float and for bfloat16. Blocks have 32 × 8 threads.
#include "shape.hpp"

using u64 = unsigned long long;
using bf16 = unsigned short;  // a transpose moves elements without interpreting their bits

// Rung 1: each thread copies four elements. A warp loads part of a row, which is contiguous, and stores part of a
// column, which is not.
template <class T>
__device__ void transpose_naive(const T* __restrict__ in, T* __restrict__ out, u64 n) {
  const u64 x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kRows) out[x * n + y + i] = in[(y + i) * n + x];
}
extern "C" __global__ void naive(const float* in, float* out, u64 n) { transpose_naive(in, out, n); }
extern "C" __global__ void naive_bf16(const bf16* in, bf16* out, u64 n) { transpose_naive(in, out, n); }

// Rungs 2 and 3: a tile in shared memory. A warp loads a row of the tile and stores a row of the transposed tile; it
// reads a column only from shared memory. With Padding, rows of the tile are longer by one 4-byte word.
template <class T, bool Padding>
__device__ void transpose_tiled(const T* __restrict__ in, T* __restrict__ out, u64 n) {
  __shared__ T tile[kTile][kTile + (Padding ? 4 / sizeof(T) : 0)];
  u64 x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;  // the tile's position in the output
  y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kRows) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
extern "C" __global__ void tiled(const float* in, float* out, u64 n) { transpose_tiled<float, false>(in, out, n); }
extern "C" __global__ void tiled_bf16(const bf16* in, bf16* out, u64 n) { transpose_tiled<bf16, false>(in, out, n); }
extern "C" __global__ void padded(const float* in, float* out, u64 n) { transpose_tiled<float, true>(in, out, n); }
extern "C" __global__ void padded_bf16(const bf16* in, bf16* out, u64 n) { transpose_tiled<bf16, true>(in, out, n); }

// 128 bits: four floats or eight bfloat16.
struct alignas(16) Vector {
  unsigned word[4];
};

// Transpose a square block that one thread has in its registers: before, block[i] is a row; afterwards, a column.
__device__ void transpose_block(Vector (&block)[4]) {  // 4 × 4 floats
  Vector columns[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) columns[i].word[j] = block[j].word[i];
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) block[i] = columns[i];
}
__device__ void transpose_block(Vector (&block)[8]) {  // 8 × 8 bfloat16, two in each word
  Vector columns[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned even = block[2 * j].word[i], odd = block[2 * j + 1].word[i];
      columns[2 * i].word[j] = __byte_perm(even, odd, 0x5410);      // the low halves of both rows
      columns[2 * i + 1].word[j] = __byte_perm(even, odd, 0x7632);  // the high halves
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) block[i] = columns[i];
}

enum class Order { kInput, kOutput };  // whose rows of tiles consecutive blocks follow

// Rungs 4 to 6: each thread loads a square block with 128-bit loads, transposes it in registers, and puts it into the
// tile with 128-bit stores. Then each warp stores rows of the tile. With Swizzle, the vectors of a row of the tile are
// permuted, so that vectors which belong to one column are in different banks.
template <class T, bool Swizzle, Order order>
__device__ void transpose_vectorized(const T* __restrict__ in, T* __restrict__ out, u64 n) {
  constexpr int kElements = 16 / sizeof(T);  // in a vector; also vectors in a block
  __shared__ Vector tile[kSide<T>][kVectors];
  auto place = [](int row, int vector) { return Swizzle ? vector ^ row / kElements % 8 : vector; };

  const u64 tile_x = order == Order::kInput ? blockIdx.x : blockIdx.y;
  const u64 tile_y = order == Order::kInput ? blockIdx.y : blockIdx.x;
  const u64 pitch = n / kElements;  // vectors in a row of the matrix
  const Vector* from = reinterpret_cast<const Vector*>(in) + tile_y * kSide<T> * pitch + tile_x * kVectors;
  Vector* to = reinterpret_cast<Vector*>(out) + tile_x * kSide<T> * pitch + tile_y * kVectors;
  const int thread = threadIdx.y * kTile + threadIdx.x, x = thread % kVectors, y = thread / kVectors;

  Vector block[kElements];
#pragma unroll
  for (int i = 0; i < kElements; ++i) block[i] = from[(y * kElements + i) * pitch + x];
  transpose_block(block);
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    const int row = x * kElements + i;
    tile[row][place(row, y)] = block[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    const int row = y + i * (kThreads / kVectors);
    to[row * pitch + x] = tile[row][place(row, x)];
  }
}
extern "C" __global__ void __launch_bounds__(kThreads) vectorized(const float* in, float* out, u64 n) {
  transpose_vectorized<float, false, Order::kInput>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(kThreads) swizzled(const float* in, float* out, u64 n) {
  transpose_vectorized<float, true, Order::kInput>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(kThreads) rasterized(const float* in, float* out, u64 n) {
  transpose_vectorized<float, true, Order::kOutput>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(kThreads) vectorized_bf16(const bf16* in, bf16* out, u64 n) {
  transpose_vectorized<bf16, false, Order::kInput>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(kThreads) swizzled_bf16(const bf16* in, bf16* out, u64 n) {
  transpose_vectorized<bf16, true, Order::kInput>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(kThreads) rasterized_bf16(const bf16* in, bf16* out, u64 n) {
  transpose_vectorized<bf16, true, Order::kOutput>(in, out, n);
}

// Control runs: the loads and stores of global memory alone. Each tile moves to its place in the output, but is not
// transposed, so there is no shared memory and no barrier. A is the type of one access, and S the tile's side in
// 4-byte elements.
template <class A, int S, Order order>
__device__ void move_tiles(const A* __restrict__ in, A* __restrict__ out, u64 n) {
  constexpr int kAcross = S * 4 / sizeof(A), kEach = kAcross * S / kThreads;
  const u64 tile_x = order == Order::kInput ? blockIdx.x : blockIdx.y;
  const u64 tile_y = order == Order::kInput ? blockIdx.y : blockIdx.x;
  const u64 pitch = n * 4 / sizeof(A);
  const int thread = threadIdx.y * kTile + threadIdx.x, x = thread % kAcross, y = thread / kAcross;
  A moved[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    moved[i] = in[(tile_y * S + y + i * (kThreads / kAcross)) * pitch + tile_x * kAcross + x];
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    out[(tile_x * S + y + i * (kThreads / kAcross)) * pitch + tile_y * kAcross + x] = moved[i];
}
extern "C" __global__ void move_words(const unsigned* in, unsigned* out, u64 n) {
  move_tiles<unsigned, kTile, Order::kInput>(in, out, n);
}
extern "C" __global__ void move_vectors(const uint4* in, uint4* out, u64 n) {
  move_tiles<uint4, kSide<float>, Order::kInput>(in, out, n);
}
extern "C" __global__ void move_rasterized(const uint4* in, uint4* out, u64 n) {
  move_tiles<uint4, kSide<float>, Order::kOutput>(in, out, n);
}

// For the host: random data, and the verification of a whole result. Elements are compared as bit patterns.

// Fills each element with bits that depend on its position alone. All 4-byte elements are different.
template <class Bits>
__device__ void fill_with_hash(Bits* out, u64 n) {
  const u64 x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    unsigned bits = static_cast<unsigned>((y + i) * n + x);
    bits = (bits ^ bits >> 16) * 0x7feb352du;  // each step can be undone, so no two positions give the same bits
    bits = (bits ^ bits >> 15) * 0x846ca68bu;
    out[(y + i) * n + x] = static_cast<Bits>(bits ^ bits >> 16);
  }
}
extern "C" __global__ void fill(unsigned* out, u64 n) { fill_with_hash(out, n); }
extern "C" __global__ void fill_bf16(bf16* out, u64 n) { fill_with_hash(out, n); }

// Adds to *wrong the number of elements that are not in their place.
template <class Bits>
__device__ void count_wrong_elements(const Bits* in, const Bits* out, u64 n, unsigned* wrong) {
  const u64 x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (out[x * n + y + i] != in[(y + i) * n + x]) atomicAdd(wrong, 1);
  }
}
extern "C" __global__ void count_wrong(const unsigned* in, const unsigned* out, u64 n, unsigned* wrong) {
  count_wrong_elements(in, out, n, wrong);
}
extern "C" __global__ void count_wrong_bf16(const bf16* in, const bf16* out, u64 n, unsigned* wrong) {
  count_wrong_elements(in, out, n, wrong);
}
