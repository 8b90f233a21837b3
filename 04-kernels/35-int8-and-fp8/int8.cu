// What runs on compute capability 8.0 and later: the product of integers of 8 bits on mma, their quantization, and the
// kernels that check results.
#include "04-kernels/clock.hpp"
#include "04-kernels/raster.hpp"
#include "04-kernels/tiles.hpp"
#include "check.hpp"
#include "quantize.hpp"

// The largest magnitude of each group of elements with a common scale, as the bits of a float. A thread has eight
// neighbors in a row, and 16 threads a block's columns. The bits of floats that are not negative are ordered as the
// floats are, and a NaN is larger than all of them.
extern "C" __global__ void find_largest(const uint4* matrix, const Quantized q, unsigned* magnitudes) {
  const std::size_t all = std::size_t(q.rows) * q.columns / 8, threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += threads) {
    const uint4 vector = matrix[i];
    float most = 0;
    for (const unsigned pair : {vector.x, vector.y, vector.z, vector.w}) {
      most = larger(most, larger(fabsf(__uint_as_float(pair << 16)), fabsf(__uint_as_float(pair & 0xffff0000))));
    }
    for (int d = 1; d < 16; d *= 2) most = larger(most, __shfl_xor_sync(0xffffffff, most, d));
    if (i % 16 == 0) {
      const int row = static_cast<int>(i * 8 / q.columns), column = static_cast<int>(i * 8 % q.columns);
      atomicMax(magnitudes + q.scale_of(row, column), __float_as_uint(most));
    }
  }
}

extern "C" __global__ void quantize_s8(const uint4* matrix, const Quantized q, const float* magnitudes,
                                       bool power_of_two, ushort4* to, float* scales) {
  quantize<Format::kS8>(matrix, q, magnitudes, power_of_two, to, scales);
}

// Multiplies 16 × 32 elements of x by 32 × 8 of wᵀ. In each register, the four bytes are where mma for bfloat16 has two
// elements, so ldmatrix loads both alike.
__device__ inline void mma(int (&sum)[4], const unsigned (&x)[4], const unsigned (&w)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w[0]), "r"(w[1]));
}

constexpr int kPairs = kBlock / 2;  // of elements in a row of a tile: as many as elements of bfloat16

// Adds the products of one step to the sums of a warp.
template <int kDown, int kAcross>
__device__ void multiply_step(int (&sums)[kDown][kAcross][4], unsigned x, unsigned w) {
#pragma unroll
  for (int k = 0; k < kPairs / kMma; ++k) {
    unsigned of_x[kDown][4];
#pragma unroll
    for (int i = 0; i < kDown; ++i) ampere::ldmatrix_x4(of_x[i], shifted<kPairs>(x, i, k));
#pragma unroll
    for (int j = 0; j < kAcross; j += 2) {
      unsigned of_w[2][2];
      ampere::ldmatrix_x4(of_w, shifted<kPairs>(w, j / 2, k));
#pragma unroll
      for (int i = 0; i < kDown; ++i) mma(sums[i][j], of_x[i], of_w[0]), mma(sums[i][j + 1], of_x[i], of_w[1]);
    }
  }
}

// y = sums × scales. The four lanes of a row have two neighboring columns out of every eight; after an exchange, each
// of them has all eight.
template <Scales kScales, int kDown, int kAcross>
__device__ void store(const int (&sums)[kDown][kAcross][4], const Scaled& p, int row, int column) {
  const bool rows = kScales == Scales::kRows;
#pragma unroll
  for (int i = 0; i < 2 * kDown; ++i) {
    const int y = row + i * 8 + lane() / 4;
    const float of_row = p.x_scales[rows ? y : 0];
#pragma unroll
    for (int j = 0; j < kAcross; j += 4) {
      unsigned pairs[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const int x = column + (j + t) * 8 + lane() % 4 * 2;
        const int (&sum)[4] = sums[i / 2][j + t];
        pairs[t] = ampere::packed(static_cast<float>(sum[i % 2 * 2]) * of_row * p.w_scales[rows ? x : 0],
                                  static_cast<float>(sum[i % 2 * 2 + 1]) * of_row * p.w_scales[rows ? x + 1 : 0]);
      }
      ampere::transpose(pairs, lane());
      const std::size_t at = std::size_t(y) * p.columns + column + j * 8 + lane() % 4 * 8;
      static_cast<uint4*>(p.c)[at / kVector] = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
  }
}

// A block computes one tile. While it multiplies the elements of one step, those of the next ones are being copied.
template <Scales kScales>
__device__ void multiply(const Scaled& p) {
  using S = Tiles;
  extern __shared__ __align__(128) unsigned char stages[];
  const Tile at = place(blockIdx.x, p.rows / S::kRows, p.columns / S::kColumns, p.band);
  const int row = at.row * S::kRows, column = at.column * S::kColumns, steps = p.inner / kPairs;
  const unsigned first = ampere::shared_address(stages);
  const auto stage = [&](int step) { return first + step % S::kStages * S::kStepBytes; };
  const auto copy = [&](int step) {
    if (step < steps) {
      const auto from = [&](const void* matrix, int y) {
        return static_cast<const __nv_bfloat16*>(matrix) + std::size_t(y) * p.inner + step * kPairs;
      };
      copy_tile<S::kRows, kPairs, S::kThreads>(stage(step), from(p.x, row), p.inner, S::kRows);
      copy_tile<S::kColumns, kPairs, S::kThreads>(stage(step) + S::kRows * kBlock, from(p.w, column), p.inner,
                                                  S::kColumns);
    }
    ampere::cp_async_commit();
  };
  constexpr int kAcross = S::kColumns / S::kWarpColumns;
  const int my_row = warp() / kAcross * S::kWarpRows, my_column = warp() % kAcross * S::kWarpColumns;
  int sums[S::kWarpRows / kMma][S::kWarpColumns / 8][4] = {};
  for (int step = 0; step < S::kStages - 1; ++step) copy(step);
  for (int step = 0; step < steps; ++step) {
    ampere::cp_async_wait<S::kStages - 2>();
    __syncthreads();  // this step's elements are complete, and those of the step before have been read
    copy(step + S::kStages - 1);
    multiply_step(sums, left<kPairs>(stage(step) + my_row * kBlock),
                  right<kPairs>(stage(step) + (S::kRows + my_column) * kBlock));
  }
  store<kScales>(sums, p, row + my_row, column + my_column);
}

#define KERNEL(name, scales)                                                                           \
  extern "C" __global__ void __launch_bounds__(Tiles::kThreads, Tiles::kBlocks) name(const Scaled p) { \
    multiply<scales>(p);                                                                               \
  }
KERNEL(int8_one, Scales::kOne)
KERNEL(int8_rows, Scales::kRows)
