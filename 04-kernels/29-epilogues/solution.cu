// Fuse SwiGLU into the epilogue of a product.
#include "04-kernels/25-tensor-cores/pipeline.hpp"
#include "04-kernels/29-epilogues/shape.hpp"

using S = Few;  // a block of four warps computes 64 × 64 elements of a × b, each warp 32 × 32

__device__ float silu(float x) { return x / (1 + __expf(-x)); }

// c[r][f] = SiLU(gate) × factor, rounded once, with SiLU(x) = x / (1 + e^-x). The columns of b are interleaved in
// groups of eight: of the columns 16j to 16j + 15 of the product a × b, the first eight are the gates of the features
// 8j to 8j + 7, and the last eight are their factors. So c has p.columns / 2 elements in each row. p.rows and p.columns
// are multiples of 64, and p.inner of 64. Nothing but c is stored. A warp's stores touch as few sectors as possible.
extern "C" __global__ void __launch_bounds__(kThreads<S>) swiglu(const Product p) {
  load_ahead_and_multiply<S>(p, WholeTiles<S>(p), [&](const Sums<S>& sums, const Part& tile) {
    const Place<S> place;
    const std::size_t pitch = p.columns / 2;
    const int row = tile.row + place.row + place.lane / 4, feature = (tile.column + place.column) / 2;
    const int t = place.lane % 4;
#pragma unroll
    for (int i = 0; i < 2 * sums.kDown; ++i) {  // eight rows each
      unsigned pairs[4] = {};  // of features: of the first eight, of the second eight, and two unused
#pragma unroll
      for (int j = 0; j < sums.kAcross; ++j) {
        const float (&gates)[4] = sums.at[i / 2][j][0], (&factors)[4] = sums.at[i / 2][j][1];
        const int first = i % 2 * 2;
        pairs[j] = ampere::packed(silu(gates[first]) * factors[first], silu(gates[first + 1]) * factors[first + 1]);
      }
      ampere::transpose(pairs, place.lane);  // now lane t of a row has all eight features of group t
      auto* const to = static_cast<__nv_bfloat16*>(p.c) + (row + 8 * i) * pitch + feature + 8 * t;
      if (t < sums.kAcross) *reinterpret_cast<uint4*>(to) = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
  });
}
