// A tile of the scan in the registers of a block, and scans of a warp.
#pragma once
#include "shape.hpp"

// Returns the sum of the warp's values up to this lane's.
__device__ inline unsigned scan_warp(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffff, value, distance);
    if (lane >= distance) value += other;
  }
  return value;
}

// Returns the sum of the warp's values in every lane.
__device__ inline unsigned sum_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffff, value);
#else
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  return value;
#endif
}

// A tile of kSize elements. Each warp has kSize / kWarps consecutive elements, and a request moves 128 of them: four
// per lane. No element is needed again soon, so loads and stores use the streaming cache policy (__ldcs, __stcs).
template <int kVectors>
struct Tile {
  static constexpr int kSize = kThreads * kVectors * 4;
  uint4 vectors[kVectors];
  unsigned warps_before;  // after scan(): the sum of the elements of all warps before this one
  unsigned sum;           // after scan() or add(): of the whole tile

  // The index of the thread's vector number k, in vectors.
  static __device__ unsigned long long place(unsigned tile, int k) {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return (static_cast<unsigned long long>(tile) * kSize + warp * (kSize / kWarps)) / 4 + k * 32 + lane;
  }

  __device__ void load(const unsigned* __restrict__ in, unsigned tile) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) vectors[k] = __ldcs(&reinterpret_cast<const uint4*>(in)[place(tile, k)]);
  }

  // Replaces every element by the sum of the warp's elements up to it. Executed by all threads of the block.
  __device__ void scan() {
    unsigned running = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      uint4& v = vectors[k];
      v.y += v.x;
      v.z += v.y;
      v.w += v.z;
      const unsigned up_to = scan_warp(v.w), before = running + up_to - v.w;
      v = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
      running += __shfl_sync(0xffffffff, up_to, 31);
    }
    combine_warps(running);
  }

  // Computes only the sum. Executed by all threads of the block.
  __device__ void add() {
    unsigned own = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) own += (vectors[k].x + vectors[k].y) + (vectors[k].z + vectors[k].w);
    combine_warps(sum_warp(own));
  }

  // Stores the sums, each increased by the sum of all tiles before this one.
  __device__ void store(unsigned* __restrict__ out, unsigned tile, unsigned tiles_before) const {
    const unsigned before = tiles_before + warps_before;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const uint4 v = vectors[k];
      __stcs(&reinterpret_cast<uint4*>(out)[place(tile, k)],
             make_uint4(v.x + before, v.y + before, v.z + before, v.w + before));
    }
  }

 private:
  __device__ void combine_warps(unsigned sum_of_warp) {
    __shared__ unsigned of_warp[kWarps];
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) of_warp[warp] = sum_of_warp;
    __syncthreads();
    warps_before = sum = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) warps_before += of_warp[w];
      sum += of_warp[w];
    }
  }
};
