// What host and kernels agree on: the shape of each kernel.
#pragma once

constexpr int kElementBytes = 2;  // bfloat16
constexpr int kVectorBytes = 16, kVector = kVectorBytes / kElementBytes;

// Each shape changes one thing in an earlier one.
struct Mma {
  static constexpr int kRows = 128, kColumns = 128;        // of the tile of c that a block computes
  static constexpr int kWarpRows = 64, kWarpColumns = 64;  // of the part that a warp computes
  static constexpr int kDepth = 64;                        // products of each sum per step
  static constexpr int kStages = 1;                        // each holds a tile of a and one of b
  static constexpr int kBlocks = 2;                        // that must fit on a multiprocessor
  static constexpr bool kLdmatrix = false, kSwizzled = false, kAhead = false;
  static constexpr bool kThin = false;  // in 04-29: c may have fewer rows than a tile, and a block few steps
  static constexpr bool kCopies = true, kLoads = true;  // for control runs: copies after the first, fragments too
};
struct Ldmatrix : Mma {
  static constexpr bool kLdmatrix = true;
};
struct Swizzled : Ldmatrix {
  static constexpr bool kSwizzled = true;
};
struct CpAsync : Swizzled {
  static constexpr int kStages = 2;
};
struct Wide : CpAsync {
  static constexpr int kColumns = 256, kBlocks = 1;
};
template <int kCount>  // as many as fit into the shared memory of the device
struct Multistage : Wide {
  static constexpr int kStages = kCount;
};
template <int kCount>
struct Ahead : Multistage<kCount> {
  static constexpr bool kAhead = true;
};

// Smaller tiles, for matrices that have too few large ones for all multiprocessors.
struct Square : Ahead<3> {
  static constexpr int kColumns = 128, kBlocks = 2;
};
struct Small : Ahead<4> {
  static constexpr int kRows = 64, kColumns = 64, kWarpRows = 32, kWarpColumns = 32, kBlocks = 3;
};

// Control runs. Except in the first, the results are wrong.
struct Unswizzled : Ahead<2> {
  static constexpr bool kSwizzled = false;
};
struct NoCopies : Ahead<2> {
  static constexpr bool kCopies = false;
};
struct OnlyMma : Ahead<2> {
  static constexpr bool kCopies = false, kLoads = false;
};

template <class S>
constexpr int kThreads = 32 * (S::kRows / S::kWarpRows) * (S::kColumns / S::kWarpColumns);
template <class S>
constexpr int kBytesOfA = S::kRows * S::kDepth * kElementBytes;
template <class S>
constexpr int kBytesOfB = S::kDepth * S::kColumns * kElementBytes;
template <class S>
constexpr int kStageBytes = kBytesOfA<S> + kBytesOfB<S>;
template <class S>
constexpr int kSharedBytes = S::kStages * kStageBytes<S>;

// c = a × b in bfloat16, contiguous in each row. c has rows × columns elements, each a sum of `inner` products; these
// numbers are multiples of the tile's sides and of its depth.
struct Product {
  const void *a, *b;
  void* c;
  int rows, columns, inner;
  int band;  // how many rows of tiles the tile order visits column by column; 1: row by row
};
