// The gradient of q: a block visits the keys that its rows of q use.
#pragma once
#include "parts.hpp"

template <class S>
__device__ void by_queries(const Attention& p, const Gradients& g) {
  extern __shared__ __align__(1024) char memory[];
  const unsigned tile_of_q = ampere::shared_address(memory), tile_of_o = tile_of_q + kOwnBytes<S>;
  const unsigned stages = tile_of_o + kOwnBytes<S>;
  const int first_row = (gridDim.x - 1 - blockIdx.x) * S::kRows, row = first_row + warp() * S::kWarpRows;
  const int head = blockIdx.y, other = head / p.group;
  const int keys = keys_of(p, min(first_row + S::kRows, p.queries) - 1), tiles = (keys + S::kStep - 1) / S::kStep;
  const auto copy = [&](int tile) {
    if (tile >= tiles) return;
    const int key = tile * S::kStep;
    copy_pair<S, S::kStep>(stages + tile % S::kStages * kStageBytes<S>, row_of<S>(elements(p.k), other, p.keys, key),
                           row_of<S>(elements(p.v), other, p.keys, key), p.keys - key);
    ampere::cp_async_commit();
  };
  copy_pair<S, S::kRows>(tile_of_q, row_of<S>(elements(p.q), head, p.queries, first_row),
                         row_of<S>(elements(g.o), head, p.queries, first_row), p.queries - first_row);
  copy(0);
  Gradient<S> of_q;
  float lse[of_q.kRows], delta[of_q.kRows];
  for (int i = 0; i < of_q.kRows; ++i) {
    const std::size_t at = std::size_t(head) * g.pitch + row + of_q.row(i);
    lse[i] = g.lse[at], delta[i] = g.delta[at];
  }
  for (int tile = 0; tile < tiles; ++tile) {
    const unsigned tile_of_k = stages + tile % S::kStages * kStageBytes<S>, tile_of_v = tile_of_k + kStepBytes<S>;
    ampere::cp_async_wait<0>();
    __syncthreads();
    copy(tile + 1);
    Scores<S> scores, gradients;
    multiply_transposed<S::kHead>(scores, rows_of_warp<S>(tile_of_q, warp()), tile_of_k);
    multiply_transposed<S::kHead>(gradients, rows_of_warp<S>(tile_of_o, warp()), tile_of_v);
    const bool masked = (tile + 1) * S::kStep > keys_of(p, row);
#pragma unroll
    for (int i = 0; i < scores.kRows; ++i) {
      const int used = masked ? keys_of(p, row + scores.row(i)) - tile * S::kStep : INT_MAX;
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) {
        const float weight = exp2_approximately(scores.of_row(i, j) * (p.scale * kLog2E) - lse[i]);
        gradients.of_row(i, j) = scores.column(j) < used ? weight * (gradients.of_row(i, j) - delta[i]) : 0;
      }
    }
#pragma unroll
    for (int k = 0; k < scores.kAcross; ++k) {
      unsigned a[kDown<S>][4];
      as_operand(a, gradients, k);
      multiply_part(of_q, a, tile_of_k, k);
    }
  }
  store_scaled<S>(of_q, p.scale, g.q, head, p.queries, row);
}
