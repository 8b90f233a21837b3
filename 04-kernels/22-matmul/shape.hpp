// What the kernels and the host share: which part of c a block computes, and which part a thread.
#pragma once

// A block computes a tile of Rows × Columns elements of c, and each of its threads ThreadRows × ThreadColumns of them.
template <int Rows, int Columns, int ThreadRows, int ThreadColumns>
struct Shape {
  static constexpr int kRows = Rows, kColumns = Columns;
  static constexpr int kThreadRows = ThreadRows, kThreadColumns = ThreadColumns;
  static constexpr int kThreads = Rows / ThreadRows * (Columns / ThreadColumns);
};
constexpr int kSide = 32;
using Element = Shape<kSide, kSide, 1, 1>;  // naive, coalesced and tiled
using Strip = Shape<64, 64, 8, 1>;          // register_1d
using Square = Shape<128, 128, 8, 8>;       // register_2d, and most kernels of 04-23

// From register_1d on, the tiles of a and b in shared memory extend this far along the inner dimension.
constexpr int kDepth = 16;
