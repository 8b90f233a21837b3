// The gradients of k and v with pairs of warps, which have the same keys. The first warp of a pair computes their
// weights and the gradient of v, and the second one the gradients of their scores and the gradient of k, one step
// later.
#pragma once
#include "parts.hpp"

// Sixteen queries of a warp's weights on their way from one warp to the other: each lane stores the registers of its
// operands, and the same lane of the other warp loads them.
template <class S>
__device__ uint4* handed_over(char* buffer, int pair, int k, int i) {
  return reinterpret_cast<uint4*>(buffer) + ((pair * (S::kStep / kMma) + k) * kDown<S> + i) * 32 + lane();
}
__device__ inline float low_of(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_of(unsigned pair) { return __uint_as_float(pair & 0xffff0000); }

template <class S>
__device__ void first_of_pair(Gradient<S>& of_v, const Attention& p, unsigned rows_of_k, int key, int pair,
                              const Steps<S>& steps, int step, char* buffer) {
  Scores<S> weights;
  weigh<S>(weights, p, rows_of_k, key, steps, step);
#pragma unroll
  for (int k = 0; k < weights.kAcross; ++k) {
    unsigned a[kDown<S>][4];
    as_operand(a, weights, k);
#pragma unroll
    for (int i = 0; i < kDown<S>; ++i) *handed_over<S>(buffer, pair, k, i) = {a[i][0], a[i][1], a[i][2], a[i][3]};
    multiply_part(of_v, a, steps.tile_of_o(step), k);
  }
}

template <class S>
__device__ void second_of_pair(Gradient<S>& of_k, unsigned rows_of_v, int pair, const Steps<S>& steps, int step,
                               char* buffer, unsigned tile_of_gradients) {
  Scores<S> gradients;
  multiply_transposed<S::kHead>(gradients, rows_of_v, steps.tile_of_o(step));
  const float* const delta = steps.delta(step);
#pragma unroll
  for (int k = 0; k < gradients.kAcross; ++k) {
#pragma unroll
    for (int i = 0; i < kDown<S>; ++i) {
      const uint4 four = *handed_over<S>(buffer, pair, k, i);
      const unsigned weights[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        float (&of_pair)[4] = gradients.at[i][k][r / 2];
        const int first = r % 2 * 2, column = (2 * k + r / 2) * 8 + lane() % 4 * 2;
        of_pair[first] = low_of(weights[r]) * (of_pair[first] - delta[column]);
        of_pair[first + 1] = high_of(weights[r]) * (of_pair[first + 1] - delta[column + 1]);
      }
    }
  }
  if (S::kAtomics) store_in_tile(gradients, tile_of_gradients + pair * S::kWarpRows * S::kStep * kElementBytes);
#pragma unroll
  for (int k = 0; k < gradients.kAcross; ++k) {
    unsigned a[kDown<S>][4];
    as_operand(a, gradients, k);
    multiply_part(of_k, a, steps.tile_of_q(step), k);
  }
}

template <class S>
__device__ void by_pairs(const Attention& p, const Gradients& g) {
  extern __shared__ __align__(1024) char memory[];
  const unsigned tile_of_k = ampere::shared_address(memory), tile_of_v = tile_of_k + kOwnBytes<S>;
  constexpr int kPairs = S::kRows / S::kWarpRows;
  char* const buffers = memory + 2 * kOwnBytes<S> + S::kStages * kStageBytes<S>;
  const unsigned gradients = ampere::shared_address(buffers) + 2 * kScoreBytes<S>;
  // Two buffers each: those of a step are written while those of the step before are read.
  const auto weights_of = [&](int step) { return buffers + step % 2 * kScoreBytes<S>; };
  const auto gradients_of = [&](int step) { return gradients + step % 2 * kScoreBytes<S>; };
  const int first_key = blockIdx.x * S::kRows, other = blockIdx.y;
  const int pair = warp() % kPairs, key = first_key + pair * S::kWarpRows;
  const bool first = warp() < kPairs;
  copy_pair<S, S::kRows>(tile_of_k, row_of<S>(elements(p.k), other, p.keys, first_key),
                         row_of<S>(elements(p.v), other, p.keys, first_key), p.keys - first_key);
  const Steps<S> steps(p, g, memory + 2 * kOwnBytes<S>, first_key);
  Gradient<S> sums;
  for (int step = 0; step < steps.count() + (S::kAtomics ? 2 : 1); ++step) {
    steps.wait(step);
    const int last = step - 1;
    if (first && step < steps.count()) {
      first_of_pair<S>(sums, p, rows_of_warp<S>(tile_of_k, pair), key, pair, steps, step, weights_of(step));
    } else if (!first && last >= 0 && last < steps.count()) {
      second_of_pair<S>(sums, rows_of_warp<S>(tile_of_v, pair), pair, steps, last, weights_of(last),
                        gradients_of(last));
    }
    if constexpr (S::kAtomics) {
      if (last <= 0) continue;
      add_to_queries<S>(p, g, gradients_of(last - 1), tile_of_k, steps.head(last - 1), steps.row(last - 1));
    }
  }
  store_scaled<S>(sums, first ? 1 : p.scale, first ? g.v : g.k, other, p.keys, key);
}
