// What host and kernels agree on: y = x × the transpose of the weights; x and y have up to 16 rows in bfloat16.
#pragma once

constexpr int kGroup = 128;          // neighbors in a row of the weights that have the same scale
constexpr int kStrip = 2 * kGroup;   // columns that a warp multiplies
constexpr int kTile = 16;            // rows of the weights that a block multiplies at the same time
constexpr int kWarps = 16, kThreads = 32 * kWarps;
constexpr int kMostRows = 16;        // of x
constexpr int kUnitWords = kTile * kGroup / 8;  // of 32 bits: kTile rows of a group

// A weight is (q - 8) × the scale of its group, and q has four bits. The weights have `rows` rows of `columns`
// elements: multiples of kTile and kStrip.
struct FourBit {
  const void* weights;  // plain or shuffled, see layout.hpp
  const void* scales;   // bfloat16, kTile for each group of a tile: of rows 0 and 8, of rows 1 and 9, …
  const void* x;
  void* y;
  float* parts;    // the sums of all splits, if there are several
  unsigned* done;  // one for each tile: how many splits have stored their sums; 0 before and after a launch
  int m, rows, columns;  // x has m rows
  int splits;            // blocks that share a tile: each has at most kWarps strips of its columns
};

// The kernels of the ladder. Each one changes one of these properties of the kernel before.
struct Convert {
  static constexpr bool kConverts = true;       // integers to floating-point numbers, one by one
  static constexpr bool kScalesWeights = true;  // and not sums
  static constexpr bool kShuffled = false;      // the weights are in the order in which the lanes need them
  static constexpr bool kSubtracts = true;      // 8 from each weight, and not from the sums
  static constexpr bool kAhead = false;         // loads the next tile before the products of one, not after
  static constexpr bool kOverlaps = false;      // loads weights before the kernel before has finished
  static constexpr bool kMultiplies = true;     // false only in control runs
};
struct Lop3 : Convert {
  static constexpr bool kConverts = false;
};
struct LateScale : Lop3 {
  static constexpr bool kScalesWeights = false;
};
struct Shuffled : LateScale {
  static constexpr bool kShuffled = true;
};
struct Folded : Shuffled {
  static constexpr bool kSubtracts = false;
};
struct Ahead : Folded {
  static constexpr bool kAhead = true;
};
struct Overlapped : Ahead {
  static constexpr bool kOverlaps = true;
};
// A control run, whose results are wrong: the weights are loaded but not multiplied, and x is hardly loaded.
struct OnlyLoadsOverlapped : Overlapped {
  static constexpr bool kMultiplies = false;
};
