// Rejected with: "a warp's stores touch no more sectors than needed"
// Stores pairs without an exchange: the four lanes of a row fill only half of a sector.
#include "04-kernels/25-tensor-cores/pipeline.hpp"
#include "04-kernels/29-epilogues/shape.hpp"

using S = Few;

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
        pairs[j] = ampere::packed(silu(gates[first]) * factors[first], silu(gates[first + 1]) * factors[first + 1]);
      }
      auto* const to = static_cast<__nv_bfloat16*>(p.c) + (row + 8 * i) * pitch + feature + 2 * t;
#pragma unroll
      for (int j = 0; j < sums.kAcross; ++j) *reinterpret_cast<unsigned*>(to + 8 * j) = pairs[j];
    }
  });
}
