// What tiles publish for the tiles after them, and the look-back of a warp.
#pragma once
#include "tile.hpp"

#include <cuda/atomic>

using u64 = unsigned long long;

// The state of a tile is one 64-bit word: what is known in the upper half, a sum in the lower half. Both are loaded and
// stored by one access, so a reader never sees one without the other, and no further memory has to be ordered with
// them. Therefore, relaxed accesses are enough.
constexpr u64 kNothing = 0;         // the initial state
constexpr u64 kOwn = 1ull << 32;    // the sum of the tile's own elements
constexpr u64 kUpTo = 2ull << 32;   // the sum of all elements up to the end of the tile

__device__ inline u64 load_state(u64* states, int tile) {
  return cuda::atomic_ref<u64, cuda::thread_scope_device>(states[tile]).load(cuda::memory_order_relaxed);
}
__device__ inline void publish(u64* states, int tile, u64 known, unsigned sum) {
  cuda::atomic_ref<u64, cuda::thread_scope_device>(states[tile]).store(known | sum, cuda::memory_order_relaxed);
}

__device__ inline unsigned fetch_add(unsigned* counter) {
  return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*counter).fetch_add(1, cuda::memory_order_relaxed);
}

// Publishes the tile's own sum, finds the sum of all tiles before it, and publishes the total. Called by one warp, and
// returns the sum of the tiles before in every lane. The lanes look at kStates states each, 128 tiles in one step:
// the nearest four in lane 0. Adds the number of steps to `steps`.
__device__ inline unsigned look_back_warp(u64* states, int tile, unsigned own, unsigned& steps) {
  constexpr int kStates = 4;
  const int lane = threadIdx.x % 32;
  if (lane == 0) publish(states, tile, tile == 0 ? kUpTo : kOwn, own);
  unsigned before = 0;
  for (int nearest = tile - 1; nearest >= 0; nearest -= 32 * kStates) {
    ++steps;
    u64 state[kStates];
    bool published;
    do {
      published = true;
#pragma unroll
      for (int k = 0; k < kStates; ++k) {  // all loads are issued before the first one is needed
        const int other = nearest - lane * kStates - k;
        state[k] = other >= 0 ? load_state(states, other) : kUpTo;  // before the first tile, the sum is 0
      }
#pragma unroll
      for (int k = 0; k < kStates; ++k) published &= state[k] != kNothing;
    } while (!published);

    unsigned sum = 0;  // of this lane's tiles, up to the first one that includes all tiles before it
    bool complete = false;
#pragma unroll
    for (int k = 0; k < kStates; ++k) {
      if (!complete) sum += static_cast<unsigned>(state[k]);
      complete |= state[k] >= kUpTo;
    }
    const unsigned completed = __ballot_sync(0xffffffff, complete);
    const int last = completed != 0 ? __ffs(completed) - 1 : 31;  // the nearest lane that found such a tile
    before += sum_warp(lane <= last ? sum : 0);
    if (completed != 0) break;
  }
  if (lane == 0 && tile > 0) publish(states, tile, kUpTo, before + own);
  return before;
}
