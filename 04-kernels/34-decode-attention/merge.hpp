// Adds up what several warps or several blocks know about the same rows of q.
#pragma once
#include "softmax.hpp"
#include "work.hpp"

// A row's largest score, times log2 e, and the sum of the exponentials relative to it.
struct Total {
  float largest, sum;
};

// Four elements of a row of o, before the division.
struct Merged {
  Total total{-INFINITY, 0};
  float4 values{};

  __device__ void add(const Total& other, const float4& theirs) {
    const float largest = fmaxf(total.largest, other.largest);
    if (largest == -INFINITY) return;  // neither has any key
    const float a = exp2_approximately(total.largest - largest), b = exp2_approximately(other.largest - largest);
    total = {largest, a * total.sum + b * other.sum};
    values = {a * values.x + b * theirs.x, a * values.y + b * theirs.y, a * values.z + b * theirs.z,
              a * values.w + b * theirs.w};
  }
};

// In shared memory: the totals of each warp's rows. The sums of a warp are in the stage that it has used last.
using Totals = Total[kWarps][kMostGroup];

// Where element `column` of a row of sums is. The order avoids most bank conflicts.
template <class S>
__device__ int place(int row, int column) {
  return row * S::kHead + (column ^ row % 4 * 8);
}

template <class S>
class Merge {
 public:
  __device__ Merge(const Decode& p, const Part& part, int heads)
      : p_(p),
        part_(part),
        rows_(rows_of<S>(p)),
        pair_(std::size_t{static_cast<unsigned>(part.request)} * heads + part.head) {}

  // Adds up what the warps know, and stores the result, or the block's part of it. `stages`: the address of the first
  // warp's stage, and the distance to that of the next warp.
  __device__ void merge_warps(const State<S>& state, char* stages, int distance, Totals& totals) const {
    share(state, reinterpret_cast<float*>(stages + warp() * distance), totals[warp()]);
    __syncthreads();
    for (int i = threadIdx.x; i < rows_ * kAcross; i += kThreads) {
      const int row = i / kAcross, column = i % kAcross * 4;
      Merged merged;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const auto* const sums = reinterpret_cast<const float*>(stages + w * distance);
        merged.add(totals[w][row], *reinterpret_cast<const float4*>(sums + place<S>(row, column)));
      }
      part_.is_whole() ? finish(row, column, merged) : store(row, column, merged);
    }
    __syncthreads();  // the stages will be used for other pages
  }

  // Whether all other blocks that share the head have stored their parts, too. Called by one thread.
  __device__ bool is_last() const {
    const bool last = atomicAdd(p_.done + pair_, 1) == static_cast<unsigned>(part_.last_block - part_.first_block);
    if (last) p_.done[pair_] = 0;  // for the next launch
    return last;
  }

  // Adds up the parts in the order of the blocks. The loads of kBatch parts are in progress together.
  __device__ void merge_blocks() const {
    for (int i = threadIdx.x; i < rows_ * kAcross; i += kThreads) {
      const int row = i / kAcross, column = i % kAcross * 4;
      Merged merged;
      for (int first = part_.first_block; first <= part_.last_block; first += kBatch) {
        float2 totals[kBatch];
        float4 values[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
          float* const memory = memory_of(min(first + b, part_.last_block));
          totals[b] = __ldcg(reinterpret_cast<const float2*>(total_in(memory, row)));
          values[b] = __ldcg(reinterpret_cast<const float4*>(memory + row * S::kHead + column));
        }
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
          if (first + b <= part_.last_block) merged.add({totals[b].x, totals[b].y}, values[b]);
        }
      }
      finish(row, column, merged);
    }
  }

 private:
  static constexpr int kAcross = S::kHead / 4, kBatch = 16;

  // Stores what the warp knows in shared memory.
  __device__ void share(const State<S>& state, float* sums, Total (&totals)[kMostGroup]) const {
    __syncwarp();  // all lanes have used the pages
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = Output<S>::row(i);
      const float sum = state.sum(i);
      if (row >= rows_) continue;
      if (lane() % 4 == 0) totals[row] = {state.largest(i), sum};
#pragma unroll
      for (int j = 0; j < Output<S>::kEach; ++j) sums[place<S>(row, column<S>(j))] = state.output().of_row(i, j);
    }
  }

  // A block shares at most two heads with other blocks: one that it does not begin, and one that it does not end.
  __device__ float* memory_of(int block) const {
    return p_.parts + (2 * std::size_t{static_cast<unsigned>(block)} + (block == part_.first_block)) * kPartFloats;
  }
  __device__ static float* total_in(float* memory, int row) { return memory + kMostGroup * S::kHead + 2 * row; }

  // Stores what the block knows in global memory.
  __device__ void store(int row, int column, const Merged& merged) const {
    float* const memory = memory_of(blockIdx.x);
    *reinterpret_cast<float4*>(memory + row * S::kHead + column) = merged.values;
    if (column == 0) *reinterpret_cast<float2*>(total_in(memory, row)) = {merged.total.largest, merged.total.sum};
  }

  __device__ void finish(int row, int column, const Merged& merged) const {
    const std::size_t at = pair_ * rows_ + row;
    const float sum = merged.total.sum, scale = S::kBytes == 2 ? 1 : p_.v_scales[part_.head];
    const float factor = sum > 0 ? scale / sum : 0;
    const float4& values = merged.values;
    *reinterpret_cast<uint2*>(static_cast<__nv_bfloat16*>(p_.o) + at * S::kHead + column) = {
        ampere::packed(values.x * factor, values.y * factor), ampere::packed(values.z * factor, values.w * factor)};
    if (column == 0) p_.lse[at] = sum > 0 ? merged.total.largest * kLn2 + logf(sum) : -INFINITY;
  }

  const Decode& p_;
  const Part part_;
  int rows_;
  std::size_t pair_;  // the number of the head among those of all requests
};

// The parts that a block shares with others: none, one or two.
struct Shared {
  Part parts[2];
  bool last[2];
};
template <class S>
__device__ void merge_shared(const Decode& p, Shared& shared, int count, int heads) {
  if (count == 0) return;
  __threadfence();  // the parts are stored before they are counted
  __syncthreads();
  if (threadIdx.x < count) {
    shared.last[threadIdx.x] = Merge<S>(p, shared.parts[threadIdx.x], heads).is_last();
    __threadfence();  // the other blocks' parts are loaded after they have been counted
  }
  __syncthreads();
  for (int i = 0; i < count; ++i) {
    if (shared.last[i]) Merge<S>(p, shared.parts[i], heads).merge_blocks();
  }
}
