// What the kernels and the host share: which part of c a block computes, and which part a thread.
#pragma once
#include "04-kernels/22-matmul/shape.hpp"

// A control run of `transposed`: rows of the tile of a are not permuted in shared memory.
struct Unpermuted : Square {};
template <class S>
constexpr bool kPermuted = true;
template <>
constexpr bool kPermuted<Unpermuted> = false;

using Large = Shape<128, 256, 8, 16>;  // larger and prefetched

// A control run of `prefetched`: all rows of the register tile are computed in the same direction.
struct Straight : Large {};
template <class S>
constexpr bool kStraight = false;
template <>
constexpr bool kStraight<Straight> = true;

// From warp_tiled on, the lanes of a warp form a grid of this many rows and columns.
constexpr int kLaneRows = 8, kLaneColumns = 4;
