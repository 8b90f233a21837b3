// The parts of all kernels that compute gradients: tiles, weights, and the gradients of scores.
#pragma once
#include "04-kernels/exp2.hpp"
#include "04-kernels/tiles.hpp"
#include "shape.hpp"

template <class S>
constexpr int kDown = S::kWarpRows / kMma;
template <class S>
using Scores = Sums<kDown<S>, S::kStep>;  // the warp's rows × the rows of a step
template <class S>
using Gradient = Sums<kDown<S>, S::kHead>;

// Row `row` of a matrix that has `rows` rows for each head.
template <class S, class Element>
__device__ Element* row_of(Element* matrix, int head, int rows, int row) {
  return matrix + (std::size_t(head) * rows + row) * S::kHead;
}
__device__ inline const __nv_bfloat16* elements(const void* matrix) {
  return static_cast<const __nv_bfloat16*>(matrix);
}

// The address of the first fragment of rows number `part` of a tile, kWarpRows each.
template <class S>
__device__ unsigned rows_of_warp(unsigned tile, int part) {
  return left<S::kHead>(tile + part * S::kWarpRows * S::kHead * kElementBytes);
}

// Starts to copy rows of two matrices into two tiles, one behind the other.
template <class S, int kRows>
__device__ void copy_pair(unsigned to, const __nv_bfloat16* one, const __nv_bfloat16* other, int rows) {
  copy_tile<kRows, S::kHead, kThreads<S>>(to, one, S::kHead, rows);
  copy_tile<kRows, S::kHead, kThreads<S>>(to + kRows * S::kHead * kElementBytes, other, S::kHead, rows);
}

// Multiplies and stores a warp's rows of a gradient.
template <class S>
__device__ void store_scaled(Gradient<S>& gradient, float scale, void* to, int head, int rows, int row) {
#pragma unroll
  for (int i = 0; i < gradient.kRows; ++i) {
#pragma unroll
    for (int j = 0; j < gradient.kEach; ++j) gradient.of_row(i, j) *= scale;
  }
  store(gradient, row_of<S>(static_cast<__nv_bfloat16*>(to), head, rows, row), rows - row);
}

// The rows of q and of the gradient of o that use a block's keys, a tile of them in each step, for all heads of q that
// use the block's head of k and v.
template <class S>
class Steps {
 public:
  __device__ Steps(const Attention& p, const Gradients& g, char* stages, int first_key)
      : p_(p), g_(g), stages_(stages), first_head_(blockIdx.y * p.group) {
    const int tiles = (p.queries + S::kStep - 1) / S::kStep;
    first_tile_ = min(tiles, p.causal ? max(0, first_key - p.keys + p.queries) / S::kStep : 0);
    each_ = tiles - first_tile_, count_ = p.group * each_;
    copy(0);
  }
  __device__ int count() const { return count_; }
  __device__ int head(int step) const { return first_head_ + step / each_; }
  __device__ int row(int step) const { return (first_tile_ + step % each_) * S::kStep; }

  // Waits until the tiles of a step are complete, and starts to copy those of the next one.
  __device__ void wait(int step) const {
    ampere::cp_async_wait<0>();
    __syncthreads();
    copy(step + 1);
  }
  __device__ unsigned tile_of_q(int step) const { return ampere::shared_address(stage(step)); }
  __device__ unsigned tile_of_o(int step) const { return tile_of_q(step) + kStepBytes<S>; }
  __device__ const float* lse(int step) const {
    return reinterpret_cast<const float*>(stage(step) + 2 * kStepBytes<S>);
  }
  __device__ const float* delta(int step) const { return lse(step) + S::kStep; }

 private:
  __device__ char* stage(int step) const { return stages_ + step % S::kStages * kStageBytes<S>; }
  __device__ void copy(int step) const {
    if (step >= count_) return;
    const int of_q = head(step), first = row(step);
    copy_pair<S, S::kStep>(tile_of_q(step), row_of<S>(elements(p_.q), of_q, p_.queries, first),
                           row_of<S>(elements(g_.o), of_q, p_.queries, first), p_.queries - first);
    constexpr int kVectors = S::kStep / 4;  // of four floats
    const int which = threadIdx.x / kVectors, vector = threadIdx.x % kVectors;
    const float* const from = (which == 0 ? g_.lse : g_.delta) + std::size_t(of_q) * g_.pitch + first + 4 * vector;
    if (which < 2) ampere::cp_async(ampere::shared_address(lse(step)) + threadIdx.x * kVectorBytes, from);
    ampere::cp_async_commit();
  }

  const Attention& p_;
  const Gradients& g_;
  char* stages_;
  int first_head_, first_tile_, each_, count_;
};

// Removes the scores of a warp's keys, from `key` on, and of the queries from `row` on that do not use them.
template <class S>
__device__ void mask(Scores<S>& scores, const Attention& p, int key, int row) {
#pragma unroll
  for (int j = 0; j < scores.kEach; ++j) {
    const int keys = keys_of(p, row + scores.column(j)) - key;
#pragma unroll
    for (int i = 0; i < scores.kRows; ++i) {
      if (scores.row(i) >= keys) scores.of_row(i, j) = -INFINITY;
    }
  }
}

// Computes the weights of a warp's keys, from `key` on, for the queries of a step.
template <class S>
__device__ void weigh(Scores<S>& weights, const Attention& p, unsigned rows_of_k, int key, const Steps<S>& steps,
                      int step) {
  multiply_transposed<S::kHead>(weights, rows_of_k, steps.tile_of_q(step));
  if (key + S::kWarpRows > keys_of(p, steps.row(step))) mask<S>(weights, p, key, steps.row(step));
  const float* const lse = steps.lse(step);
#pragma unroll
  for (int j = 0; j < weights.kEach; ++j) {
    const float subtract = lse[weights.column(j)];
#pragma unroll
    for (int i = 0; i < weights.kRows; ++i) {
      weights.of_row(i, j) = exp2_approximately(weights.of_row(i, j) * (p.scale * kLog2E) - subtract);
    }
  }
}

// Where a lane's element j of its row i of 16 or more rows is in the sums. Either the sums are stored by rows, or 16 ×
// 16 of them by registers, and those of a register by lanes: then a warp accesses 128 neighboring bytes.
template <int kHead>
__device__ int place_of_sum(bool coalesced, int i, int j) {
  using Rows = Sums<1, kHead>;
  if (!coalesced) return Rows::row(i) * kHead + Rows::column(j);
  return (i / 2 * Rows::kAcross + j / 4) * (kMma * kMma) + (j / 2 % 2 * 4 + i % 2 * 2 + j % 2) * 32 + lane();
}

// Adds the products of the block's gradients of scores and its rows of k to the gradient of rows of q. The tile of
// gradients has a row for each key.
template <class S>
__device__ void add_to_queries(const Attention& p, const Gradients& g, unsigned gradients, unsigned tile_of_k, int head,
                               int row) {
  constexpr int kWarpsDown = S::kStep / S::kQueryRows, kWarpsAcross = kThreads<S> / 32 / kWarpsDown;
  constexpr int kFragments = S::kQueryRows / kMma;
  Sums<kFragments, S::kHead / kWarpsAcross> sums;
  const int down = warp() % kWarpsDown * kFragments, across = warp() / kWarpsDown * sums.kAcross;  // in fragments
#pragma unroll
  for (int k = 0; k < (S::kMultiplies ? S::kRows / kMma : 0); ++k) {
    unsigned a[kFragments][4];
#pragma unroll
    for (int i = 0; i < kFragments; ++i) {
      ampere::ldmatrix_x4_trans(a[i], shifted<S::kStep>(right<S::kStep>(gradients), k, down + i));
    }
#pragma unroll
    for (int j = 0; j < sums.kAcross; ++j) {
      unsigned b[2][2];
      ampere::ldmatrix_x4_trans(b, shifted<S::kHead>(left<S::kHead>(tile_of_k), k, across + j));
#pragma unroll
      for (int i = 0; i < 2 * kFragments; ++i) ampere::mma(sums.at[i / 2][j][i % 2], a[i / 2], b[i % 2]);
    }
  }
  if (!S::kAdds && sums.at[0][0][0][0] != 1234567) return;  // the condition keeps the compiler from removing the sums
  float* const to = row_of<S>(g.sums, head, g.pitch, row + down * kMma);
#pragma unroll
  for (int i = 0; i < sums.kRows; ++i) {
#pragma unroll
    for (int j = 0; j < sums.kEach; ++j) {
      atomicAdd(to + place_of_sum<S::kHead>(S::kCoalesced, i, across * 4 + j), sums.of_row(i, j));
    }
  }
}
