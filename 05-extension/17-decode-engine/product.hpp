// A product of a step. A block computes kTileRows rows of y. Its warps divide the columns of the weights.
#pragma once
#include "04-kernels/36-four-bit-weights/product.hpp"
#include "overlap.hpp"
#include "shape.hpp"

namespace engine {

// Weights that are multiplied by the same x are stored one after the other, in segments: the queries and keys of a
// head, or all gates and all factors that they control. An epilogue needs rows of both halves of a segment together, so
// a tile has eight of each. With segments of kTileRows rows, this is the usual order.
__device__ inline int source_row(int tile, int row, int segment) {
  const int tiles = segment / kTileRows;
  return tile / tiles * segment + row / 8 * (segment / 2) + tile % tiles * 8 + row % 8;
}

// Eight neighbors in a row of x; 0 if there is no such row.
__device__ inline uint4 eight_of(const Product& p, int row, int column) {
  if (row >= p.m) return {};
  const auto* const x = static_cast<const __nv_bfloat16*>(p.x) + static_cast<std::size_t>(row) * p.columns + column;
  return *reinterpret_cast<const uint4*>(x);
}

// A strip of a tile in bfloat16, in the order in which the lanes need it.
class InBfloat16 {
 public:
  static constexpr int kColumns = kStripBf16, kAhead = 2;
  __device__ void load(const Product& p, int tile, int strip) {
    const std::size_t unit = static_cast<std::size_t>(tile) * (p.columns / 32) + strip * (kColumns / 32);
    const auto* const from = static_cast<const uint4*>(p.weights) + unit * 64 + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kColumns / 16; ++i) words_[i] = load_once(from + 32 * i);
  }
  __device__ void multiply(Sums<8>& sums, const Product& p, int strip) const {
    const int lane = threadIdx.x % 32;
    uint4 eight[kColumns / 32];
#pragma unroll
    for (int i = 0; i < kColumns / 32; ++i) eight[i] = eight_of(p, lane / 4, strip * kColumns + 32 * i + lane % 4 * 8);
#pragma unroll
    for (int i = 0; i < kColumns / 32; ++i) {
      const uint4 &a = words_[2 * i], &b = words_[2 * i + 1];
      ampere::mma(sums.at[0], {a.x, a.y, a.z, a.w}, {eight[i].x, eight[i].y});
      ampere::mma(sums.at[0], {b.x, b.y, b.z, b.w}, {eight[i].z, eight[i].w});
    }
  }

 private:
  uint4 words_[kColumns / 16];
};

// A strip of a tile in four bits, as in lesson 04-36.
class InFourBits {
 public:
  static constexpr int kColumns = kStrip, kAhead = 2;
  static_assert(kStrip == kStripInt4);
  __device__ void load(const Product& p, int tile, int strip) { weights_.load(argument(p), tile, strip); }
  __device__ void multiply(Sums<8>& sums, const Product& p, int strip) const {
    Strip<8> x;
    x.load(argument(p), strip);
    ::multiply<Shuffled>(sums, weights_.next(), x);
  }

 private:
  __device__ static FourBit argument(const Product& p) {
    return {p.weights, p.scales, p.x, nullptr, nullptr, nullptr, p.m, p.rows, p.columns, 1};
  }
  InRegisters<Shuffled> weights_;
};

// What a block has in shared memory: its warps' sums of each row of a tile and each row of x. There are two buffers, so
// a warp can continue with the next tile while others use this one.
struct Shared {
  float sums[2][kMostWarps][kTileRows * kSlots];
  float factors[kSlots];
};

// The sums of all warps.
struct Tile {
  const Shared& shared;
  int number, buffer;

  __device__ float at(int row, int m) const {
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kMostWarps; ++w) {  // all loads are in progress together
      if (w < static_cast<int>(blockDim.x / 32)) sum += shared.sums[buffer][w][row * kSlots + m];
    }
    return sum * shared.factors[m];
  }
};

// The factors of RMSNorm for all rows of x. A warp computes one of them at a time.
__device__ inline void find_factors(const Product& p, Shared& shared) {
  const int count = p.columns / kTileRows, lane = threadIdx.x % 32;
  for (int m = threadIdx.x / 32; m < p.m; m += blockDim.x / 32) {
    float sum = 0;
    if (p.squares != nullptr) {
      for (int i = lane; i < count; i += 32) sum += p.squares[m * count + i];
      for (int d = 1; d < 32; d *= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    if (lane == 0)
      shared.factors[m] = p.squares == nullptr ? 1 : rsqrtf(sum / static_cast<float>(p.columns) + p.epsilon);
  }
}

// Computes tiles blockIdx.x, blockIdx.x + gridDim.x and so on. `use` does something with each of them, when all warps
// have added up their sums. While a warp uses a strip, the next ones are on their way, also those of the next tile.
template <class Weights, class Use>
__device__ void product(const Product& p, Use use) {
  constexpr int kAhead = Weights::kAhead;
  __shared__ __align__(16) Shared shared;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int strips = p.columns / Weights::kColumns, tiles = p.rows / kTileRows, step = gridDim.x;
  Weights weights[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (warp + i * warps < strips) weights[i].load(p, blockIdx.x, warp + i * warps);
  }
  let_next_start();
  wait_for_last();
  find_factors(p, shared);
  int buffer = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += step) {
    Sums<8> sums;
    for (int first = warp; first < strips; first += kAhead * warps) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int strip = first + i * warps, next = strip + kAhead * warps;
        if (strip >= strips) continue;
        weights[i].multiply(sums, p, strip);
        if (next < strips) {
          weights[i].load(p, tile, next);
        } else if (tile + step < tiles) {
          weights[i].load(p, tile + step, warp + i * warps);
        }
      }
    }
    store(sums, shared.sums[buffer][warp]);
    __syncthreads();
    use(Tile{shared, tile, buffer});
    buffer ^= 1;
  }
}

}  // namespace engine
