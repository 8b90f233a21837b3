// A warp's rows of q, their product with a tile of k, and its rows of o.
#pragma once
#include "04-kernels/tiles.hpp"
#include "shape.hpp"

template <class S>
constexpr int kDown = S::kWarpRows / kMma;
template <class S>
using Scores = Sums<kDown<S>, S::kKeys>;
template <class S>
using Output = Sums<kDown<S>, S::kHead>;

// A warp's rows of q. Either they stay in registers after hold(), or each use loads them.
template <class S>
class Queries {
 public:
  __device__ explicit Queries(unsigned tile)
      : address_(left<S::kHead>(tile) + warp() * S::kWarpRows * S::kHead * kElementBytes) {}
  __device__ void hold() {
    if constexpr (S::kHoldQueries) {
#pragma unroll
      for (int k = 0; k < S::kHead / kMma; ++k) load(held_[k], k);
    }
  }
  __device__ void get(unsigned (&to)[kDown<S>][4], int k) const {
    if constexpr (S::kHoldQueries) {
#pragma unroll
      for (int i = 0; i < kDown<S> * 4; ++i) to[i / 4][i % 4] = held_[k][i / 4][i % 4];
    } else {
      load(to, k);
    }
  }

 private:
  __device__ void load(unsigned (&to)[kDown<S>][4], int k) const {
#pragma unroll
    for (int i = 0; i < kDown<S>; ++i) ampere::ldmatrix_x4(to[i], shifted<S::kHead>(address_, i, k));
  }

  unsigned address_;
  unsigned held_[S::kHoldQueries ? S::kHead / kMma : 1][kDown<S>][4];
};

// scores = q × the transpose of the tile of k
template <class S>
__device__ void multiply(Scores<S>& scores, const Queries<S>& queries, unsigned tile) {
  const unsigned keys = right<S::kHead>(tile);
#pragma unroll
  for (int k = 0; k < S::kHead / kMma; ++k) {
    unsigned a[kDown<S>][4];
    queries.get(a, k);
#pragma unroll
    for (int j = 0; j < scores.kAcross; ++j) {
      unsigned b[2][2];
      ampere::ldmatrix_x4(b, shifted<S::kHead>(keys, j, k));
#pragma unroll
      for (int i = 0; i < kDown<S> * 2; ++i) ampere::mma(scores.at[i / 2][j][i % 2], a[i / 2], b[i % 2]);
    }
  }
}

// Stores a warp's rows of o, the first of which is `row`.
template <class S>
__device__ void store(const Output<S>& output, const Attention& p, int row) {
  const std::size_t first = std::size_t{blockIdx.y} * p.queries + row;
  store(output, static_cast<__nv_bfloat16*>(p.o) + first * S::kHead, p.queries - row);
}
