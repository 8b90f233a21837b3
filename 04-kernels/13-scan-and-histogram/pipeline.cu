// Rung 6 of the scan: a persistent kernel whose warps have roles. It needs compute capability 9.0 or newer; n is a
// multiple of kPipelineTile.
#include "bulk.hpp"
#include "look_back.hpp"

// A circular buffer of kStages tiles, and four barriers for each of them. A tile passes from role to role: it is loaded
// (full), its parts are added (summed), the sum of everything before each part is found (known), and its running sums
// are computed and stored (empty).
struct Stages {
  u64 full[kStages], summed[kStages], known[kStages], empty[kStages];
  unsigned tile[kStages];  // the tile's number; `tiles` or more means that there is no further tile
  unsigned sums[kStages][kScanWarps], before[kStages][kScanWarps];  // of each part
};

// The position of a warp in the circular buffer.
struct Position {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

// Executed by one thread. It runs ahead of the other roles by up to kStages tiles.
__device__ void load_tiles(Stages& stages, unsigned* buffer, const unsigned* in, unsigned* next_tile, unsigned tiles) {
  for (Position at;; at.advance()) {
    mbarrier_wait(stages.empty[at.stage], at.parity ^ 1);
    const unsigned tile = fetch_add(next_tile);
    stages.tile[at.stage] = tile;
    if (tile >= tiles) {
      mbarrier_arrive(stages.full[at.stage]);
      return;
    }
    constexpr unsigned kBytes = kPipelineTile * sizeof(unsigned);
    mbarrier_arrive_expect(stages.full[at.stage], kBytes);
    bulk_load(buffer + at.stage * kPipelineTile, in + u64(tile) * kPipelineTile, kBytes, stages.full[at.stage]);
  }
}

// The thread's first vector of a part.
__device__ uint4* vectors_of(unsigned* elements, int part) {
  return reinterpret_cast<uint4*>(elements + part * kPart) + threadIdx.x % 32;
}

__device__ void sum_parts(Stages& stages, unsigned* buffer, unsigned tiles, int warp) {
  for (Position at;; at.advance()) {
    mbarrier_wait(stages.full[at.stage], at.parity);
    if (stages.tile[at.stage] >= tiles) return;
    for (int part = warp; part < kScanWarps; part += kSumWarps) {
      const uint4* vectors = vectors_of(buffer + at.stage * kPipelineTile, part);
      unsigned sum = 0;
#pragma unroll
      for (int k = 0; k < kPart / 128; ++k) {
        const uint4 v = vectors[k * 32];
        sum += (v.x + v.y) + (v.z + v.w);
      }
      sum = sum_warp(sum);
      if (threadIdx.x % 32 == 0) stages.sums[at.stage][part] = sum;
    }
    if (threadIdx.x % 32 == 0) mbarrier_arrive(stages.summed[at.stage]);
  }
}

// Executed by one warp.
__device__ void find_sums_before(Stages& stages, u64* states, unsigned tiles) {
  const int lane = threadIdx.x % 32;
  unsigned steps = 0;  // is not used
  for (Position at;; at.advance()) {
    mbarrier_wait(stages.full[at.stage], at.parity);
    const unsigned tile = stages.tile[at.stage];
    if (tile >= tiles) return;
    mbarrier_wait(stages.summed[at.stage], at.parity);
    const unsigned sum = lane < kScanWarps ? stages.sums[at.stage][lane] : 0, up_to = scan_warp(sum);
    const unsigned before = look_back_warp(states, tile, __shfl_sync(0xffffffff, up_to, 31), steps);
    if (lane < kScanWarps) stages.before[at.stage][lane] = before + up_to - sum;
    __syncwarp();
    if (lane == 0) mbarrier_arrive(stages.known[at.stage]);
  }
}

__device__ void scan_parts(Stages& stages, unsigned* buffer, unsigned* out, unsigned tiles, int part) {
  constexpr int kSteps = kPart / 128, kUnrolled = 4;
  for (Position at;; at.advance()) {
    mbarrier_wait(stages.full[at.stage], at.parity);
    const unsigned tile = stages.tile[at.stage];
    if (tile >= tiles) return;
    mbarrier_wait(stages.known[at.stage], at.parity);
    unsigned running = stages.before[at.stage][part];
    const uint4* from = vectors_of(buffer + at.stage * kPipelineTile, part);
    uint4* to = vectors_of(out + u64(tile) * kPipelineTile, part);
#pragma unroll
    for (int first = 0; first < kSteps; first += kUnrolled) {
      uint4 v[kUnrolled];
      unsigned up_to[kUnrolled];
#pragma unroll
      for (int k = 0; k < kUnrolled; ++k) {
        v[k] = from[(first + k) * 32];
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        up_to[k] = scan_warp(v[k].w);
      }
      if (first + kUnrolled == kSteps) {  // the whole part is in registers: the stage may be filled again
        __syncwarp();
        if (threadIdx.x % 32 == 0) mbarrier_arrive(stages.empty[at.stage]);
      }
#pragma unroll
      for (int k = 0; k < kUnrolled; ++k) {
        const unsigned before = running + up_to[k] - v[k].w;
        __stcs(to + (first + k) * 32, make_uint4(v[k].x + before, v[k].y + before, v[k].z + before, v[k].w + before));
        running += __shfl_sync(0xffffffff, up_to[k], 31);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kPipelineThreads)
    pipelined(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned tiles) {
  extern __shared__ __align__(128) unsigned buffer[];
  __shared__ Stages stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(stages.full[s], 1);  // and the bytes of the copy
      mbarrier_init(stages.summed[s], kSumWarps);
      mbarrier_init(stages.known[s], 1);
      mbarrier_init(stages.empty[s], kScanWarps);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    if (threadIdx.x == 0) load_tiles(stages, buffer, in, next_tile, tiles);
  } else if (warp == 1) {
    find_sums_before(stages, states, tiles);
  } else if (warp < 2 + kSumWarps) {
    sum_parts(stages, buffer, tiles, warp - 2);
  } else {
    scan_parts(stages, buffer, out, tiles, warp - 2 - kSumWarps);
  }
}
