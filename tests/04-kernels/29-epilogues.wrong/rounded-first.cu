// Rejected with: "one tile: every result is rounded once"
// Rounds gates and factors to bfloat16 before the activation, as a second kernel would find them.
#include "04-kernels/25-tensor-cores/pipeline.hpp"
#include "04-kernels/29-epilogues/shape.hpp"

using S = Few;

__device__ float rounded(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }
__device__ float silu(float x) { return x / (1 + __expf(-x)); }

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
        pairs[j] = ampere::packed(silu(rounded(gates[first])) * rounded(factors[first]),
                                  silu(rounded(gates[first + 1])) * rounded(factors[first + 1]));
      }
      ampere::transpose(pairs, place.lane);  // now lane t of a row has all eight features of group t
      auto* const to = static_cast<__nv_bfloat16*>(p.c) + (row + 8 * i) * pitch + feature + 8 * t;
      if (t < sums.kAcross) *reinterpret_cast<uint4*>(to) = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
  });
}
