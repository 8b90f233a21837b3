// Products in which several blocks share a tile (split-K, stream-K): each block gets an equal share of all steps.
#pragma once
#include "epilogues.hpp"

// The steps of all tiles, one tile after the other, divided evenly among the blocks of the grid.
template <class S>
class Shares {
 public:
  __device__ explicit Shares(const Product& p)
      : across_(p.columns / S::kColumns),
        steps_(p.inner / S::kDepth),
        all_((p.rows + S::kRows - 1) / S::kRows * across_ * steps_),
        step_(first_step_of(blockIdx.x)),
        end_(first_step_of(blockIdx.x + 1)) {}

  __device__ bool more() const { return step_ < end_; }
  // The next part of the block's share: consecutive steps of one tile. Returns whether there was one.
  __device__ bool next(Part& part) {
    if (!more()) return false;
    const int tile = step_ / steps_, first = step_ % steps_, steps = min(steps_ - first, end_ - step_);
    part = {tile / across_ * S::kRows, tile % across_ * S::kColumns, first, steps};
    step_ += steps;
    return true;
  }

  __device__ int steps() const { return steps_; }  // of a whole tile
  __device__ int tile_of(const Part& part) const { return part.row / S::kRows * across_ + part.column / S::kColumns; }
  __device__ int first_step_of(int block) const {
    return static_cast<int>(static_cast<unsigned long long>(all_) * block / gridDim.x);
  }
  // The block that computes this step of all steps.
  __device__ int block_with(int step) const { return static_cast<int>(((step + 1ull) * gridDim.x - 1) / all_); }

 private:
  const int across_, steps_, all_;
  int step_, end_;
};

// Adds up the sums of a tile that several blocks share. Each of them stores its own in p.partial, and the last one to
// finish adds all of them, always in the same order. Returns whether this block is the last one. No block waits.
template <class S>
__device__ bool combine(Sums<S>& sums, const Linear& p, const Shares<S>& shares, const Part& part) {
  constexpr int kVectors = sizeof(sums.at) / sizeof(float4);
  const int tile = shares.tile_of(part), begin = tile * shares.steps();
  // A block shares at most two tiles, at the beginning and at the end of its share.
  const auto stored_by = [&](int block) {
    const int which = shares.first_step_of(block) > begin ? 0 : 1;
    return reinterpret_cast<float4*>(p.partial) + std::size_t(2 * block + which) * kVectors * kThreads<S> + threadIdx.x;
  };
  float4* const own = stored_by(blockIdx.x);
  float4* const values = reinterpret_cast<float4*>(&sums.at);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) own[i * kThreads<S>] = values[i];
  __threadfence();  // the sums are visible before the counter changes
  __syncthreads();
  const int first = shares.block_with(begin), last = shares.block_with(begin + shares.steps() - 1);
  const bool complete = threadIdx.x == 0 && atomicAdd(&p.finished[tile], 1) == last - first;
  if (!__syncthreads_or(complete)) return false;
  __threadfence();  // the counter is read before the sums
  if (threadIdx.x == 0) p.finished[tile] = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) values[i] = {};
#pragma unroll 4
  for (int block = first; block <= last; ++block) {
    const float4* const from = stored_by(block);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const float4 v = __ldcg(&from[i * kThreads<S>]);
      values[i] = {values[i].x + v.x, values[i].y + v.y, values[i].z + v.z, values[i].w + v.w};
    }
  }
  return true;
}
