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
using Element = Shape<kSide, kSide, 1, 1>;  // rungs 1 to 3
using Strip = Shape<64, 64, 8, 1>;          // rung 4
using Square = Shape<128, 128, 8, 8>;       // rungs 5 to 8
using Large = Shape<128, 256, 8, 16>;       // rungs 9 to 11

// From rung 4 on, the tiles of a and b in shared memory extend this far along the inner dimension.
constexpr int kDepth = 16;

// From rung 7 on, the lanes of a warp form a grid of this many rows and columns.
constexpr int kLaneRows = 8, kLaneColumns = 4;
