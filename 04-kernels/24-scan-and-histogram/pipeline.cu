// Rung 7 of the scan: a persistent kernel whose warps have roles. It needs compute capability 9.0 or newer; n is a
// multiple of kPipelineTile.
#include "04-kernels/hopper.hpp"
#include "progress.hpp"
#include "tile.hpp"

// A circular buffer of kStages tiles, with four barriers for each of them. A tile passes from role to role: it is
// loaded (full), its parts are added (summed), the sum of all tiles before it is found (known), and its running sums
// are computed and stored (empty).
struct Stages {
  std::uint64_t full[kStages], summed[kStages], known[kStages], empty[kStages];
  unsigned tile[kStages];                      // the tile's number; `tiles` or more: there are no further tiles
  unsigned own[kStages];                       // the sum of the tile
  unsigned tiles_before[kStages];              // the sum of all tiles before it
  unsigned parts_before[kStages][kScanWarps];  // the sum of the tile's parts before each part
};

// The position of a role in the circular buffer.
struct Position {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

// Role 1, one thread: loads tiles, up to kStages ahead of the stores.
__device__ void load_tiles(Stages& stages, unsigned* buffer, const unsigned* in, unsigned* next_tile, unsigned tiles) {
  Position at;
  for (int left = kStages; left > 0; at.advance()) {
    hopper::mbarrier_wait(stages.empty[at.stage], at.parity ^ 1);
    const unsigned tile = take_number(next_tile);
    stages.tile[at.stage] = tile;
    if (tile < tiles) {
      constexpr unsigned kBytes = kPipelineTile * sizeof(unsigned);
      hopper::mbarrier_arrive_expect_tx(stages.full[at.stage], kBytes);
      hopper::bulk_load(buffer + at.stage * kPipelineTile, in + u64(tile) * kPipelineTile, kBytes,
                        stages.full[at.stage]);
    } else {  // every stage gets such a mark, because the roles wait for different stages
      hopper::mbarrier_arrive(stages.full[at.stage]);
      --left;
    }
  }
}

// The thread's first vector of a part.
__device__ uint4* vectors_of(unsigned* elements, int part) {
  return reinterpret_cast<uint4*>(elements + part * kPart) + threadIdx.x % 32;
}

// Role 2, one warp for each stage: adds the elements, and publishes the sum at once.
__device__ void sum_tiles(Stages& stages, unsigned* buffer, u64* states, unsigned tiles, int stage) {
  const int lane = threadIdx.x % 32;
  for (unsigned parity = 0;; parity ^= 1) {
    hopper::mbarrier_wait(stages.full[stage], parity);
    if (stages.tile[stage] >= tiles) return;
    unsigned part_sum = 0;  // in lane k: of part k
#pragma unroll 1
    for (int part = 0; part < kScanWarps; ++part) {
      const uint4* vectors = vectors_of(buffer + stage * kPipelineTile, part);
      unsigned sum = 0;
#pragma unroll
      for (int k = 0; k < kPart / 128; ++k) {
        const uint4 v = vectors[k * 32];
        sum += (v.x + v.y) + (v.z + v.w);
      }
      sum = sum_warp(sum);
      if (lane == part) part_sum = sum;
    }
    const unsigned up_to = scan_warp(part_sum);
    if (lane < kScanWarps) stages.parts_before[stage][lane] = up_to - part_sum;
    if (lane == 31) {
      publish(states, stages.tile[stage], kOwn, up_to);
      stages.own[stage] = up_to;
    }
    __syncwarp();
    if (lane == 0) hopper::mbarrier_arrive(stages.summed[stage]);
  }
}

// Role 3, one warp: finds the sum of all tiles before each tile. The block knows the sum up to its previous tile, so it
// needs only the sums of the tiles in between. These never depend on another look-back. Without `Enabled`, for a
// control run, every tile is scanned as if it were the first one.
template <bool Enabled>
__device__ void look_back(Stages& stages, u64* states, unsigned tiles) {
  constexpr int kLoads = 8;
  const int lane = threadIdx.x % 32;
  unsigned sum = 0, next = 0;  // the sum of all tiles before tile number `next`
  for (Position at;; at.advance()) {
    hopper::mbarrier_wait(stages.full[at.stage], at.parity);
    const unsigned tile = stages.tile[at.stage];
    if (tile >= tiles) return;
    unsigned between = 0;
    for (unsigned first = next + lane; Enabled && first - lane < tile; first += 32 * kLoads) {
      u64 state[kLoads];
      bool published;
      do {
        published = true;
#pragma unroll
        for (int k = 0; k < kLoads; ++k) state[k] = first + k * 32 < tile ? load_state(states, first + k * 32) : kOwn;
#pragma unroll
        for (int k = 0; k < kLoads; ++k) published &= state[k] != kNothing;
      } while (!published);
#pragma unroll
      for (int k = 0; k < kLoads; ++k) between += static_cast<unsigned>(state[k]);
    }
    sum += sum_warp(between);
    hopper::mbarrier_wait(stages.summed[at.stage], at.parity);
    const unsigned own = stages.own[at.stage];
    __syncwarp();
    if (lane == 0) {
      stages.tiles_before[at.stage] = Enabled ? sum : 0;
      hopper::mbarrier_arrive(stages.known[at.stage]);
    }
    sum += own;
    next = tile + 1;
  }
}

// Role 4, kScanWarps warps: each scans one part of every tile and stores the running sums.
__device__ void scan_parts(Stages& stages, unsigned* buffer, unsigned* out, unsigned tiles, int part) {
  constexpr int kSteps = kPart / 128, kUnrolled = 4;
  for (Position at;; at.advance()) {
    hopper::mbarrier_wait(stages.full[at.stage], at.parity);
    const unsigned tile = stages.tile[at.stage];
    if (tile >= tiles) return;
    hopper::mbarrier_wait(stages.known[at.stage], at.parity);
    unsigned running = stages.tiles_before[at.stage] + stages.parts_before[at.stage][part];
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
      if (first + kUnrolled == kSteps) {  // the whole part has been read: the stage may be filled again
        __syncwarp();
        if (threadIdx.x % 32 == 0) hopper::mbarrier_arrive(stages.empty[at.stage]);
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

template <bool LookBack>
__device__ void run_pipeline(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned tiles) {
  extern __shared__ __align__(128) unsigned buffer[];
  __shared__ Stages stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      hopper::mbarrier_init(stages.full[s], 1);  // and the bytes of the copy
      hopper::mbarrier_init(stages.summed[s], 1);
      hopper::mbarrier_init(stages.known[s], 1);
      hopper::mbarrier_init(stages.empty[s], kScanWarps);
    }
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    if (threadIdx.x == 0) load_tiles(stages, buffer, in, next_tile, tiles);
  } else if (warp == 1) {
    look_back<LookBack>(stages, states, tiles);
  } else if (warp < 2 + kStages) {
    sum_tiles(stages, buffer, states, tiles, warp - 2);
  } else {
    scan_parts(stages, buffer, out, tiles, warp - 2 - kStages);
  }
}
extern "C" __global__ void __launch_bounds__(kPipelineThreads)
    pipelined(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned tiles) {
  run_pipeline<true>(in, out, next_tile, states, tiles);
}
extern "C" __global__ void __launch_bounds__(kPipelineThreads)
    pipelined_no_look_back(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned tiles) {
  run_pipeline<false>(in, out, next_tile, states, tiles);
}
