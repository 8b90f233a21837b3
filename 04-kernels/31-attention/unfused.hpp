// Attention in three kernels, which exchange the scores of all pairs of rows through memory.
#pragma once
#include "tile.hpp"

using UnfusedShape = Fused<128>;

// scores = scale × q × the transpose of k
extern "C" __global__ void __launch_bounds__(kThreads<UnfusedShape>)
    unfused_scores(const Attention p, const Unfused unfused) {
  using S = UnfusedShape;
  extern __shared__ __align__(1024) char unfused_memory[];
  const int first_row = blockIdx.y * S::kRows, first_key = blockIdx.x * S::kKeys;
  const std::size_t head = blockIdx.z, other = blockIdx.z / p.group;
  const auto* const q = static_cast<const __nv_bfloat16*>(p.q) + (head * p.queries + first_row) * S::kHead;
  const auto* const k = static_cast<const __nv_bfloat16*>(p.k) + (other * p.keys + first_key) * S::kHead;
  const unsigned tile = ampere::shared_address(unfused_memory);
  copy_tile<S::kRows, S::kHead, kThreads<S>>(tile, q, S::kHead, p.queries - first_row);
  copy_tile<S::kKeys, S::kHead, kThreads<S>>(tile + kQueryBytes<S>, k, S::kHead, p.keys - first_key);
  ampere::cp_async_commit();
  ampere::cp_async_wait<0>();
  __syncthreads();
  Queries<S> queries(tile);
  queries.hold();
  Scores<S> scores;
  multiply(scores, queries, tile + kQueryBytes<S>);
  const int row = first_row + warp() * S::kWarpRows;
#pragma unroll
  for (int i = 0; i < scores.kRows; ++i) {
    if (row + scores.row(i) >= p.queries) continue;
    float* const to = unfused.scores + (head * p.queries + row + scores.row(i)) * unfused.pitch + first_key;
#pragma unroll
    for (int j = 0; j < scores.kEach; j += 2) {
      *reinterpret_cast<float2*>(to + scores.column(j)) = {scores.of_row(i, j) * p.scale,
                                                           scores.of_row(i, j + 1) * p.scale};
    }
  }
}

// Combines a value of every thread of the block.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float of_warp[kRowThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  __syncthreads();  // all threads have read the values of the last call
  if (lane() == 0) of_warp[warp()] = value;
  __syncthreads();
  value = of_warp[0];
  for (int i = 1; i < kRowThreads / 32; ++i) value = combine(value, of_warp[i]);
  return value;
}

// weights = softmax of each row of the scores. A block computes one row.
extern "C" __global__ void __launch_bounds__(kRowThreads) unfused_softmax(const Attention p, const Unfused unfused) {
  const std::size_t row = std::size_t{blockIdx.y} * p.queries + blockIdx.x;
  const float* const scores = unfused.scores + row * unfused.pitch;
  auto* const weights = static_cast<__nv_bfloat16*>(unfused.weights) + row * unfused.pitch;
  const int keys = keys_of(p, blockIdx.x);
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < keys; i += kRowThreads) largest = fmaxf(largest, scores[i]);
  largest = over_block(largest, [](float one, float other) { return fmaxf(one, other); });
  for (int i = threadIdx.x; i < keys; i += kRowThreads) sum += expf(scores[i] - largest);
  sum = over_block(sum, [](float one, float other) { return one + other; });
  for (int i = threadIdx.x; i < unfused.pitch; i += kRowThreads) {
    weights[i] = __float2bfloat16_rn(i < keys ? expf(scores[i] - largest) / sum : 0);
  }
  if (threadIdx.x == 0) p.lse[row] = keys > 0 ? largest + logf(sum) : -INFINITY;
}

// o = weights × v
extern "C" __global__ void __launch_bounds__(kThreads<UnfusedShape>)
    unfused_output(const Attention p, const Unfused unfused) {
  using S = UnfusedShape;
  extern __shared__ __align__(1024) char unfused_memory[];
  const int first_row = blockIdx.x * S::kRows;
  const std::size_t head = blockIdx.y, other = blockIdx.y / p.group;
  const auto* const weights =
      static_cast<const __nv_bfloat16*>(unfused.weights) + (head * p.queries + first_row) * unfused.pitch;
  const auto* const v = static_cast<const __nv_bfloat16*>(p.v) + other * p.keys * S::kHead;
  const unsigned values_tile = ampere::shared_address(unfused_memory), weights_tile = values_tile + kTileBytes<S>;
  const unsigned mine = left<S::kKeys>(weights_tile + warp() * S::kWarpRows * S::kKeys * kElementBytes);
  Output<S> output;
  const int keys = keys_of(p, min(first_row + S::kRows, p.queries) - 1);
  for (int first_key = 0; first_key < keys; first_key += S::kKeys) {
    copy_tile<S::kRows, S::kKeys, kThreads<S>>(weights_tile, weights + first_key, unfused.pitch, p.queries - first_row);
    copy_tile<S::kKeys, S::kHead, kThreads<S>>(values_tile, v + std::size_t(first_key) * S::kHead, S::kHead,
                                               p.keys - first_key);
    ampere::cp_async_commit();
    ampere::cp_async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int part = 0; part < S::kKeys / kMma; ++part) {
      unsigned a[kDown<S>][4];
#pragma unroll
      for (int i = 0; i < kDown<S>; ++i) ampere::ldmatrix_x4(a[i], shifted<S::kKeys>(mine, i, part));
      multiply_part(output, a, values_tile, part);
    }
    __syncthreads();
  }
  store<S>(output, p, first_row + warp() * S::kWarpRows);
}
