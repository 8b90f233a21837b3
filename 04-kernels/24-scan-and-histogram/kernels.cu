// Two series of kernels. A histogram: how often each of 256 byte values occurs. A scan: for each of n elements, the sum
// of all elements up to it, modulo 2^32; n is a multiple of kLargeTile. The scan's last rung is in pipeline.cu.
#include "progress.hpp"
#include "tile.hpp"

// ---- histogram: bins[v] += how often v occurs among n bytes; n is a multiple of 16 ----

__device__ u64 global_index() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ u64 grid_size() { return u64(gridDim.x) * blockDim.x; }

// Rung 1: every byte is counted in global memory. All threads of the device update the same 256 words.
extern "C" __global__ void global_bins(const unsigned char* __restrict__ in, unsigned* bins, u64 n) {
  for (u64 i = global_index(); i < n; i += grid_size()) atomicAdd(&bins[in[i]], 1);
}

// Rung 2: every block has bins in shared memory, and adds them to the global ones at the end.
extern "C" __global__ void __launch_bounds__(kThreads)
    block_bins(const unsigned char* __restrict__ in, unsigned* bins, u64 n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (u64 i = global_index(); i < n; i += grid_size()) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Calls count(byte) for each of the thread's bytes. 128-bit loads, kLoads of them in flight.
template <int kLoads, class Count>
__device__ void for_each_byte(const unsigned char* __restrict__ in, u64 n, Count count) {
  const uint4* vectors = reinterpret_cast<const uint4*>(in);
  const auto count_all = [&](uint4 vector) {
    const unsigned words[] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (const unsigned word : words) {
#pragma unroll
      for (int shift = 0; shift < 32; shift += 8) count(word >> shift & 255);
    }
  };
  const u64 step = grid_size();
  u64 i = global_index();
  for (; i + (kLoads - 1) * step < n / 16; i += kLoads * step) {
    uint4 loaded[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) loaded[k] = __ldcs(&vectors[i + k * step]);
#pragma unroll
    for (int k = 0; k < kLoads; ++k) count_all(loaded[k]);
  }
  for (; i < n / 16; i += step) count_all(vectors[i]);
}

// Rung 3: the same bins, 16 bytes per load.
extern "C" __global__ void __launch_bounds__(kThreads)
    vectorized(const unsigned char* __restrict__ in, unsigned* bins, u64 n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for_each_byte<2>(in, n, [&](unsigned byte) { atomicAdd(&own[byte], 1); });
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Rung 4: every warp has bins.
extern "C" __global__ void __launch_bounds__(kThreads)
    warp_bins(const unsigned char* __restrict__ in, unsigned* bins, u64 n) {
  __shared__ unsigned own[kWarps][kBins];
  for (int warp = 0; warp < kWarps; ++warp) own[warp][threadIdx.x] = 0;
  __syncthreads();
  unsigned* mine = own[threadIdx.x / 32];
  for_each_byte<2>(in, n, [&](unsigned byte) { atomicAdd(&mine[byte], 1); });
  __syncthreads();
  unsigned sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) sum += own[warp][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

// Rung 5: every lane has bins, which it shares with the same lane of the block's other warps. Row v of the table has
// the 32 counters of value v, one in each bank, so the lanes of a warp never use the same bank.
extern "C" __global__ void __launch_bounds__(kLaneThreads, 2)
    lane_bins(const unsigned char* __restrict__ in, unsigned* bins, u64 n) {
  extern __shared__ unsigned own[][32];
  for (int i = threadIdx.x; i < kBins * 32; i += kLaneThreads) own[0][i] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  for_each_byte<2>(in, n, [&](unsigned byte) { atomicAdd(&own[byte][lane], 1); });
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kLaneThreads) {
    unsigned sum = 0;
    for (int k = 0; k < 32; ++k) sum += own[bin][(bin + k) % 32];  // each lane starts in another bank
    atomicAdd(&bins[bin], sum);
  }
}

// ---- scan ----

// Rung 1, first kernel: every block scans its tile and stores the tile's sum.
extern "C" __global__ void __launch_bounds__(kThreads) scan_tiles(const unsigned* in, unsigned* out, unsigned* sums) {
  Tile<kVectors> tile;
  tile.load(in, blockIdx.x);
  tile.scan();
  tile.store(out, blockIdx.x, 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = tile.sum;
}

// Rungs 1 and 2, second kernel: one block scans the sums of the tiles. There are `count` times kTile of them; the ones
// for which there is no tile are 0.
extern "C" __global__ void __launch_bounds__(kThreads) scan_sums(unsigned* sums, unsigned count) {
  unsigned running = 0;
  for (unsigned i = 0; i < count; ++i) {
    Tile<kVectors> tile;
    tile.load(sums, i);
    tile.scan();
    tile.store(sums, i, running);
    running += tile.sum;
    __syncthreads();  // scan() uses the same shared memory in the next iteration
  }
}

__device__ unsigned sum_before(const unsigned* sums, unsigned tile) { return tile == 0 ? 0 : sums[tile - 1]; }

// Rung 1, third kernel: adds to every element the sum of the tiles before it. It loads and stores all elements again.
extern "C" __global__ void __launch_bounds__(kThreads) add_sums(unsigned* out, const unsigned* __restrict__ sums) {
  const unsigned before = sum_before(sums, blockIdx.x);
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    uint4& v = reinterpret_cast<uint4*>(out)[Tile<kVectors>::place(blockIdx.x, k)];
    v = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
  }
}

// Rung 2, first kernel: computes the sums of the tiles and stores nothing else.
extern "C" __global__ void __launch_bounds__(kThreads) sum_tiles(const unsigned* in, unsigned* sums) {
  Tile<kVectors> tile;
  tile.load(in, blockIdx.x);
  tile.add();
  if (threadIdx.x == 0) sums[blockIdx.x] = tile.sum;
}

// Rung 2, third kernel: loads the tiles again, scans them and stores them once.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_with_sums(const unsigned* in, unsigned* out, const unsigned* __restrict__ sums) {
  Tile<kVectors> tile;
  tile.load(in, blockIdx.x);
  tile.scan();
  tile.store(out, blockIdx.x, sum_before(sums, blockIdx.x));
}

// Rung 3: waits until the tile before this one has published the sum of everything up to its end. Called by one thread.
__device__ unsigned wait_for_predecessor(u64* states, int tile, unsigned own) {
  u64 state = kUpTo;
  if (tile > 0) {
    do state = load_state(states, tile - 1);
    while (state == kNothing);
  }
  const unsigned before = static_cast<unsigned>(state);
  publish(states, tile, kUpTo, before + own);
  return before;
}

// Rung 4: publishes the tile's own sum, then adds the sums of its predecessors until one includes all before it.
// Called by one thread. Adds the number of predecessors to `steps`.
__device__ unsigned look_back_thread(u64* states, int tile, unsigned own, unsigned& steps) {
  publish(states, tile, tile == 0 ? kUpTo : kOwn, own);
  unsigned before = 0;
  for (int other = tile - 1; other >= 0; --other) {
    ++steps;  // for a control run
    u64 state;
    do state = load_state(states, other);
    while (state == kNothing);
    before += static_cast<unsigned>(state);
    if (state >= kUpTo) break;
  }
  if (tile > 0) publish(states, tile, kUpTo, before + own);
  return before;
}

// Rung 5: the same, 32 predecessors in each step; the nearest in lane 0. Called by one warp; the result is valid in
// every lane.
__device__ unsigned look_back_warp(u64* states, int tile, unsigned own, unsigned& steps) {
  const int lane = threadIdx.x % 32;
  if (lane == 0) publish(states, tile, tile == 0 ? kUpTo : kOwn, own);
  unsigned before = 0;
  for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
    ++steps;  // for a control run
    const int other = nearest - lane;
    u64 state = kUpTo;  // before the first tile, the sum is 0
    if (other >= 0) {
      do state = load_state(states, other);
      while (state == kNothing);
    }
    const unsigned complete = __ballot_sync(0xffffffff, state >= kUpTo);
    const int last = complete != 0 ? __ffs(complete) - 1 : 31;  // lanes after this one are not needed
    before += sum_warp(lane <= last ? static_cast<unsigned>(state) : 0);
    if (complete != 0) break;
  }
  if (lane == 0 && tile > 0) publish(states, tile, kUpTo, before + own);
  return before;
}

// Rungs 3 to 6: one kernel. Blocks number themselves in the order in which they start, so a block only ever waits for
// blocks that have started. All states are 0 at first. If `all_steps` is not null, the steps of all blocks are added.
enum class Before { kNothing, kChained, kThread, kWarp };
template <int kVectors, Before how>
__device__ void one_pass(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states,
                         unsigned* all_steps = nullptr) {
  __shared__ unsigned number, tiles_before;
  if (threadIdx.x == 0) number = take_number(next_tile);
  __syncthreads();
  Tile<kVectors> tile;
  tile.load(in, number);
  tile.scan();
  if (threadIdx.x < 32) {
    unsigned before = 0, steps = 0;
    if (how == Before::kWarp) {
      before = look_back_warp(states, number, tile.sum, steps);
    } else if (threadIdx.x == 0 && how == Before::kThread) {
      before = look_back_thread(states, number, tile.sum, steps);
    } else if (threadIdx.x == 0 && how == Before::kChained) {
      before = wait_for_predecessor(states, number, tile.sum);
    }
    if (threadIdx.x == 0) tiles_before = before;
    if (threadIdx.x == 0 && all_steps != nullptr) atomicAdd(all_steps, steps);
  }
  __syncthreads();
  tile.store(out, number, tiles_before);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    chained(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states) {
  one_pass<kVectors, Before::kChained>(in, out, next_tile, states);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    look_back(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states) {
  one_pass<kVectors, Before::kThread>(in, out, next_tile, states);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    warp_look_back(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states) {
  one_pass<kVectors, Before::kWarp>(in, out, next_tile, states);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    large_tiles(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states) {
  one_pass<kLargeVectors, Before::kWarp>(in, out, next_tile, states);
}

// Control runs: every tile is scanned as if it were the first one.
extern "C" __global__ void __launch_bounds__(kThreads)
    no_look_back(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states) {
  one_pass<kVectors, Before::kNothing>(in, out, next_tile, states);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    large_tiles_no_look_back(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states) {
  one_pass<kLargeVectors, Before::kNothing>(in, out, next_tile, states);
}
// Control runs: the kernels count the steps of their look-backs.
extern "C" __global__ void __launch_bounds__(kThreads)
    look_back_steps(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned* all_steps) {
  one_pass<kVectors, Before::kThread>(in, out, next_tile, states, all_steps);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    warp_look_back_steps(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned* all_steps) {
  one_pass<kVectors, Before::kWarp>(in, out, next_tile, states, all_steps);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    large_tiles_steps(const unsigned* in, unsigned* out, unsigned* next_tile, u64* states, unsigned* all_steps) {
  one_pass<kLargeVectors, Before::kWarp>(in, out, next_tile, states, all_steps);
}

// ---- verification ----

// Counts the elements of `out` that are not the running sum of a table of `period` elements, repeated. `sums` are the
// running sums of the table.
extern "C" __global__ void count_wrong(const unsigned* __restrict__ out, const unsigned* __restrict__ sums, u64 n,
                                       unsigned period, unsigned* wrong) {
  unsigned count = 0;
  for (u64 i = global_index(); i < n; i += grid_size()) {
    const unsigned expected = static_cast<unsigned>(i / period) * sums[period - 1] + sums[i % period];
    count += out[i] != expected;
  }
  if (count > 0) atomicAdd(wrong, count);
}
