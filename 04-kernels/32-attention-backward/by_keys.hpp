// The gradients of k and v: a block visits the rows of q that use its keys. Each warp has some of the keys.
#pragma once
#include "parts.hpp"

template <class S>
__device__ void by_keys(const Attention& p, const Gradients& g) {
  extern __shared__ __align__(1024) char memory[];
  const unsigned tile_of_k = ampere::shared_address(memory), tile_of_v = tile_of_k + kOwnBytes<S>;
  const unsigned tile_of_gradients = tile_of_v + kOwnBytes<S> + S::kStages * kStageBytes<S>;
  const int first_key = blockIdx.x * S::kRows, other = blockIdx.y, key = first_key + warp() * S::kWarpRows;
  copy_pair<S, S::kRows>(tile_of_k, row_of<S>(elements(p.k), other, p.keys, first_key),
                         row_of<S>(elements(p.v), other, p.keys, first_key), p.keys - first_key);
  const Steps<S> steps(p, g, memory + 2 * kOwnBytes<S>, first_key);
  Gradient<S> of_k, of_v;
  for (int step = 0; step < steps.count(); ++step) {
    steps.wait(step);
    if constexpr (!S::kMultiplies) {
      add_to_queries<S>(p, g, tile_of_gradients, tile_of_k, steps.head(step), steps.row(step));
      continue;
    }
    Scores<S> weights, gradients;
    weigh<S>(weights, p, rows_of_warp<S>(tile_of_k, warp()), key, steps, step);
#pragma unroll
    for (int k = 0; k < weights.kAcross; ++k) {
      unsigned a[kDown<S>][4];
      as_operand(a, weights, k);
      multiply_part(of_v, a, steps.tile_of_o(step), k);
    }
    multiply_transposed<S::kHead>(gradients, rows_of_warp<S>(tile_of_v, warp()), steps.tile_of_o(step));
    const float* const delta = steps.delta(step);
#pragma unroll
    for (int j = 0; j < weights.kEach; ++j) {
      const float subtract = delta[weights.column(j)];
#pragma unroll
      for (int i = 0; i < weights.kRows; ++i) {
        gradients.of_row(i, j) = weights.of_row(i, j) * (gradients.of_row(i, j) - subtract);
      }
    }
    if (S::kAtomics) store_in_tile(gradients, tile_of_gradients + warp() * S::kWarpRows * S::kStep * kElementBytes);
#pragma unroll
    for (int k = 0; k < weights.kAcross; ++k) {
      unsigned a[kDown<S>][4];
      as_operand(a, gradients, k);
      multiply_part(of_k, a, steps.tile_of_q(step), k);
    }
    if constexpr (S::kAtomics) {
      __syncthreads();
      add_to_queries<S>(p, g, tile_of_gradients, tile_of_k, steps.head(step), steps.row(step));
    }
  }
  store_scaled<S>(of_k, p.scale, g.k, other, p.keys, key);
  store_scaled<S>(of_v, 1, g.v, other, p.keys, key);
}
