// The product, for all kernels of the ladder.
#pragma once
#include "04-kernels/ampere.hpp"
#include "layout.hpp"

#include <cuda_bf16.h>

#include <cstddef>

using Pair = __nv_bfloat162;
__device__ inline Pair as_pair(unsigned bits) { return *reinterpret_cast<const Pair*>(&bits); }
__device__ inline unsigned as_bits(Pair pair) { return *reinterpret_cast<const unsigned*>(&pair); }

__device__ inline uint4 load_once(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

// A lane's weights of a strip of a tile: rows lane / 4 and lane / 4 + 8.
struct Weights {
  unsigned words[kStrip / 32][2];    // for each 32 columns, a word of each row
  unsigned scales[kStrip / kGroup];  // for each group, the scales of both rows
};
__device__ inline void unpack(Weights& weights, int i, uint4 four) {
  weights.words[2 * i][0] = four.x, weights.words[2 * i][1] = four.y;
  weights.words[2 * i + 1][0] = four.z, weights.words[2 * i + 1][1] = four.w;
}

// Loads a tile into registers. load() begins a load, and next() returns the weights.
template <class R>
class InRegisters {
 public:
  __device__ void load(const FourBit& p, int tile, int strip) {
    const int lane = threadIdx.x % 32;
    const std::size_t unit = unit_of(tile, strip * (kStrip / kGroup), p.columns);
    const auto* const from = static_cast<const unsigned*>(p.weights);
#pragma unroll
    for (int i = 0; i < kStrip / 32; ++i) {
      if constexpr (!R::kShuffled) {
        const int column = strip * kStrip + 32 * i + lane % 4 * 8;
        weights_.words[i][0] = __ldg(from + plain_word(tile * kTile + lane / 4, column, p.columns));
        weights_.words[i][1] = __ldg(from + plain_word(tile * kTile + lane / 4 + 8, column, p.columns));
      } else if (i % 2 == 0) {
        unpack(weights_, i / 2,
               load_once(reinterpret_cast<const uint4*>(from + unit * kUnitWords) + i / 2 * 32 + lane));
      }
    }
#pragma unroll
    for (int group = 0; group < kStrip / kGroup; ++group) {
      weights_.scales[group] = __ldg(static_cast<const unsigned*>(p.scales) + (unit + group) * (kTile / 2) + lane / 4);
    }
  }
  __device__ const Weights& next() const { return weights_; }

 private:
  Weights weights_;
};

// A strip of x as the right operands of mma, in registers, and for each group the sum of x times -136.
template <int kM>
struct Strip {
  unsigned b[kStrip / 32][kM / 8][2][2];
  float offsets[kStrip / kGroup][kM / 8][2];

  // The order of the columns within 32 does not matter if it is the same for x and the weights. Here lane t of four has
  // eight neighbors, so that it loads 16 bytes.
  __device__ void load(const FourBit& p, int strip) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kStrip / 32; ++i) {
#pragma unroll
      for (int n = 0; n < kM / 8; ++n) {
        const int row = 8 * n + lane / 4, column = strip * kStrip + 32 * i + lane % 4 * 8;
        uint4 v = {0, 0, 0, 0};
        if (row < p.m) {
          v = *reinterpret_cast<const uint4*>(static_cast<const __nv_bfloat16*>(p.x) +
                                              static_cast<std::size_t>(row) * p.columns + column);
        }
        b[i][n][0][0] = v.x, b[i][n][0][1] = v.y, b[i][n][1][0] = v.z, b[i][n][1][1] = v.w;
      }
    }
  }
  __device__ void sum_up() {
    const unsigned minus = as_bits(__floats2bfloat162_rn(-136, -136)), a[4] = {minus, minus, minus, minus};
#pragma unroll
    for (int i = 0; i < kStrip / kGroup * (kM / 8); ++i) {
      const int group = i / (kM / 8), n = i % (kM / 8);
      float sums[4] = {};
#pragma unroll
      for (int j = 0; j < 8; ++j) ampere::mma(sums, a, b[4 * group + j / 2][n][j % 2]);
      offsets[group][n][0] = sums[0], offsets[group][n][1] = sums[1];
    }
  }
};

// A pair of weights, neighbors in a row, from bits 4 i and 4 i + 16 of a word.
template <class R>
__device__ unsigned weights_at(unsigned word, int i, unsigned scale) {
  if constexpr (R::kConverts) {
    const float factor = __uint_as_float(scale << 16);
    const int low = static_cast<int>(word >> 4 * i & 15), high = static_cast<int>(word >> (4 * i + 16) & 15);
    return ampere::packed(static_cast<float>(low - 8) * factor, static_cast<float>(high - 8) * factor);
  } else {
    // In bfloat16, 0x4300 is 128, and the lowest four bits of the fraction count ones. (a & b) | c:
    unsigned pair;
    asm("lop3.b32 %0, %1, 0x000f000f, 0x43004300, 0xea;" : "=r"(pair) : "r"(word >> 4 * i));
    if constexpr (R::kSubtracts) pair = as_bits(__hsub2(as_pair(pair), __floats2bfloat162_rn(136, 136)));
    if constexpr (R::kScalesWeights) pair = as_bits(__hmul2(as_pair(pair), as_pair(scale << 16 | (scale & 0xffff))));
    return pair;
  }
}

template <int kM>
struct Sums {
  float at[kM / 8][4] = {};  // of each mma: rows are rows of the weights, columns are rows of x
};

// sums += a tile of weights × a strip of x
template <class R, int kM>
__device__ void multiply(Sums<kM>& sums, const Weights& weights, const Strip<kM>& x) {
#pragma unroll
  for (int group = 0; group < kStrip / kGroup; ++group) {
    const unsigned scales[2] = {weights.scales[group] & 0xffff, weights.scales[group] >> 16};
    Sums<kM> of_group;
#pragma unroll
    for (int i = 0; i < kM / 8 * 4; ++i) {
      if (!R::kSubtracts) of_group.at[i / 4][i % 4] = x.offsets[group][i / 4][i % 2];
    }
#pragma unroll
    for (int i = 4 * group; i < 4 * group + 4; ++i) {
#pragma unroll
      for (int step = 0; step < 2; ++step) {
        unsigned a[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) a[j] = weights_at<R>(weights.words[i][j % 2], 2 * step + j / 2, scales[j % 2]);
#pragma unroll
        for (int n = 0; n < kM / 8; ++n) ampere::mma(of_group.at[n], a, x.b[i][n][step]);
      }
    }
#pragma unroll
    for (int i = 0; i < kM / 8 * 4; ++i) {
      const float scale = R::kScalesWeights ? 1 : __uint_as_float(scales[i % 4 / 2] << 16);
      sums.at[i / 4][i % 4] += scale * of_group.at[i / 4][i % 4];
    }
  }
}

// For control runs: needs all weights but only one number of x, so the compiler removes the other loads of x.
template <int kM>
__device__ void only_use(Sums<kM>& sums, const Weights& weights, const Strip<kM>& x) {
  unsigned all = weights.scales[0] ^ weights.scales[1];
  for (const auto& pair : weights.words) all ^= pair[0] ^ pair[1];
  sums.at[0][0] = __uint_as_float(all & 0xffff) + __uint_as_float(x.b[0][0][0][0] & 0xffff);
}

// A warp's sums in shared memory: for eight rows of x, kTile rows of the weights. See result().
template <int kM>
__device__ void store(const Sums<kM>& sums, float* to) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int n = 0; n < kM / 8; ++n) {
    auto* const pairs = reinterpret_cast<float2*>(to + n * kTile * 8) + lane;
    pairs[0] = {sums.at[n][0], sums.at[n][1]}, pairs[32] = {sums.at[n][2], sums.at[n][3]};
  }
}

// Stores element i of a tile's sums in y.
__device__ inline void result(const FourBit& p, int tile, int i, float sum) {
  const int m = i / (kTile * 8) * 8 + i % 8, row = tile * kTile + i % (kTile * 8) / 8;
  if (m < p.m) static_cast<__nv_bfloat16*>(p.y)[static_cast<std::size_t>(m) * p.rows + row] = __float2bfloat16_rn(sum);
}

// If several blocks share the tiles: the last one to come here adds up the sums of all, always in the same order.
template <int kM>
__device__ void add_splits(const FourBit& p, int first, int step) {
  constexpr int kSums = kTile * kM;
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(p.done + first, 1) == static_cast<unsigned>(p.splits - 1);
    if (is_last) p.done[first] = 0;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  for (int i = threadIdx.x; first + i / kSums * step < p.rows / kTile; i += kThreads) {
    const int tile = first + i / kSums * step;
    float sum = 0;
    for (int split = 0; split < p.splits; ++split) {
      sum += __ldcg(p.parts + (static_cast<std::size_t>(tile) * p.splits + split) * kSums + i % kSums);
    }
    result(p, tile, i % kSums, sum);
  }
}

// Block b computes tiles b / splits, b / splits + step … of its share of the columns. Each warp has a strip of them.
template <class R, int kM>
__device__ void product(const FourBit& p) {
  constexpr int kSums = kTile * kM;
  constexpr bool kAhead = R::kAhead && kM == 8;  // for 16 rows, there are too few registers
  __shared__ __align__(16) float of_warps[2][kWarps][kSums];
  const int warp = threadIdx.x / 32, split = blockIdx.x % p.splits, strips = p.columns / kStrip;
  const int strip = strips * split / p.splits + warp;
  const bool works = strip < strips * (split + 1) / p.splits;
  const int tiles = p.rows / kTile, start = blockIdx.x / p.splits, step = gridDim.x / p.splits;

  InRegisters<R> weights, others;
  if (works) weights.load(p, start, strip);
#if __CUDA_ARCH__ >= 900
  if constexpr (R::kOverlaps) asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
  Strip<kM> x;
  if (works) x.load(p, strip);
  if (works && !R::kSubtracts) x.sum_up();

  int buffer = 0;
  const auto compute = [&](int tile, InRegisters<R>& now, InRegisters<R>& next) {
    Sums<kM> sums;
    if (works) {
      const bool is_last = tile + step >= tiles;
      if (kAhead && !is_last) next.load(p, tile + step, strip);
      if constexpr (R::kMultiplies) {
        multiply<R>(sums, now.next(), x);
      } else {
        only_use(sums, now.next(), x);
      }
      if (!kAhead && !is_last) next.load(p, tile + step, strip);
    }
    store(sums, of_warps[buffer][warp]);
    __syncthreads();
    if (threadIdx.x < kSums) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) sum += of_warps[buffer][w][threadIdx.x];
      if (p.splits == 1) {
        result(p, tile, threadIdx.x, sum);
      } else {
        p.parts[(static_cast<std::size_t>(tile) * p.splits + split) * kSums + threadIdx.x] = sum;
      }
    }
    buffer ^= 1;  // a warp reaches the next barrier only after it has read its sums, so two buffers are enough
  };
  for (int tile = start; tile < tiles; tile += step) {
    if constexpr (kAhead) {
      compute(tile, weights, others);
      tile += step;
      if (tile < tiles) compute(tile, others, weights);
    } else {
      compute(tile, weights, weights);
    }
  }
  if (p.splits > 1) add_splits<kM>(p, start, step);
}

// The kernels for up to 8 and up to 16 rows of x.
#define FOUR_BIT(name, R)                                                                                   \
  extern "C" __global__ void __launch_bounds__(kThreads, 1) name##_8(const FourBit p) { product<R, 8>(p); } \
  extern "C" __global__ void __launch_bounds__(kThreads, 1) name##_16(const FourBit p) { product<R, 16>(p); }
