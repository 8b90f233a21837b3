// What kernels and host have in common: which part of c a block computes, and which part a thread.
#pragma once

constexpr int kSide = 32;  // rungs 1 to 3: a block of 32 × 32 threads computes as many elements

// Rungs 4 to 10: a block computes a tile of Rows × Columns elements of c, and each of its threads ThreadRows ×
// ThreadColumns of them.
template <int Rows, int Columns, int ThreadRows, int ThreadColumns>
struct Shape {
  static constexpr int kRows = Rows, kColumns = Columns;
  static constexpr int kThreadRows = ThreadRows, kThreadColumns = ThreadColumns;
  static constexpr int kThreads = Rows / ThreadRows * (Columns / ThreadColumns);
};
using Strip = Shape<64, 64, 8, 1>;      // rung 4
using Square = Shape<128, 128, 8, 8>;   // rungs 5 to 7
using Large = Shape<128, 256, 8, 16>;   // rungs 8 to 10

constexpr int kDepth = 16;  // how far the tiles of a and b in shared memory reach along the inner dimension
