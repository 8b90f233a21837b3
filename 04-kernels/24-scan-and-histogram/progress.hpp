// What the tiles of a one-pass scan publish for the tiles after them.
#pragma once
#include <cuda/atomic>

using u64 = unsigned long long;

// The state of a tile is one 64-bit word: what is known in the upper half, a sum in the lower half. One access loads or
// stores both, so a reader never sees one without the other, and no other memory has to be ordered with them.
// Therefore, relaxed accesses are enough.
constexpr u64 kNothing = 0;        // the initial state
constexpr u64 kOwn = 1ull << 32;   // the sum of the tile's own elements
constexpr u64 kUpTo = 2ull << 32;  // the sum of all elements up to the end of the tile

__device__ inline u64 load_state(u64* states, int tile) {
  return cuda::atomic_ref<u64, cuda::thread_scope_device>(states[tile]).load(cuda::memory_order_relaxed);
}
__device__ inline void publish(u64* states, int tile, u64 known, unsigned sum) {
  cuda::atomic_ref<u64, cuda::thread_scope_device>(states[tile]).store(known | sum, cuda::memory_order_relaxed);
}

// Takes the next number from a counter.
__device__ inline unsigned take_number(unsigned* next) {
  return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*next).fetch_add(1, cuda::memory_order_relaxed);
}
