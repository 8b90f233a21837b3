// The parts of the work: kRows rows of a head each.
#pragma once
#include "shape.hpp"

template <class S>
__device__ int parts_of_head(const Attention& p) {
  return (p.queries + kRows<S> - 1) / kRows<S>;
}

template <class S>
struct Item {
  int head, row, tiles;  // its first row, and how many tiles of keys it uses

  // Part number `number`: the rows of a head in their order, or the longest parts of several heads first.
  __device__ Item(const Arguments& p, int number) {
    const Attention& a = p.attention;
    const int parts = parts_of_head<S>(a);
    if (S::kLongestFirst && a.causal) {
      const int first = number / (p.section * parts) * p.section, heads = min(p.section, p.heads - first);
      const int at = number - first * parts;
      head = first + at % heads, row = (parts - 1 - at / heads) * kRows<S>;
    } else {
      head = number / parts, row = number % parts * kRows<S>;
    }
    tiles = (keys_of(a, min(row + kRows<S>, a.queries) - 1) + S::kKeys - 1) / S::kKeys;
  }
};

// The number of a block's next part: the only one, or the next that no block has taken.
template <class S>
__device__ int next_part(const Arguments& p, int before) {
  if (before == 0) return blockIdx.x;
  const int all = p.heads * parts_of_head<S>(p.attention);
  return S::kPersistent ? min(gridDim.x + atomicAdd(p.taken, 1), all) : all;
}

// Resets the counters for the next launch.
template <class S>
__device__ void finish_parts(const Arguments& p) {
  if (!S::kPersistent) return;
  __threadfence();
  if (atomicAdd(p.taken + 1, 1) == gridDim.x - 1) p.taken[0] = p.taken[1] = 0;
}
