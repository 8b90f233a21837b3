// What host and kernels agree on: the shape of each kernel, and the arguments.
#pragma once
#include "04-kernels/attention.hpp"

// Each shape changes one thing in an earlier one. kD: elements in a row of q, k, v and o.
template <int kD>
struct Fused {
  static constexpr int kHead = kD;
  static constexpr int kRows = 64;      // of q, which a block computes
  static constexpr int kWarpRows = 16;  // of these, which a warp computes
  static constexpr int kKeys = 64;      // rows of k and v in each step
  static constexpr int kStages = 1;     // each holds a tile of k and one of v
  static constexpr int kBlocks = 2;     // that must fit on a multiprocessor
  static constexpr bool kInRegisters = false, kExp2 = false, kLazy = false, kHoldQueries = true;
  static constexpr bool kSkips = true, kLongestFirst = true;  // if causal
  static constexpr bool kCopies = true, kSoftmax = true;      // for control runs: copies after the first
};
template <int kD>
struct Registers : Fused<kD> {
  static constexpr bool kInRegisters = true;
};
template <int kD>
struct Exp2 : Registers<kD> {
  static constexpr bool kExp2 = true;
};
template <int kD>
struct Ahead : Exp2<kD> {
  static constexpr int kStages = 2;
};
template <int kD>
struct Twice : Ahead<kD> {
  static constexpr int kRows = 128, kWarpRows = 32, kKeys = kD == 64 ? 128 : 64;
  static constexpr bool kHoldQueries = false;  // there are not enough registers
};
template <int kD>
struct Lazy : Twice<kD> {
  static constexpr bool kLazy = true;
};

// For the table about causal attention.
template <int kD>
struct AllTiles : Lazy<kD> {
  static constexpr bool kSkips = false, kLongestFirst = false;
};
template <int kD>
struct Skips : Lazy<kD> {
  static constexpr bool kLongestFirst = false;
};

// Control runs, whose results are wrong.
template <int kD>
struct NoCopies : Lazy<kD> {
  static constexpr bool kCopies = false;
};
template <int kD>
struct NoSoftmax : Lazy<kD> {
  static constexpr bool kSoftmax = false;
};
template <int kD>
struct OnlyProducts : NoCopies<kD> {
  static constexpr bool kSoftmax = false;
};

template <class S>
constexpr int kThreads = 32 * (S::kRows / S::kWarpRows);
template <class S>
constexpr int kTileBytes = 2 * S::kKeys * S::kHead;  // of k, and of v
template <class S>
constexpr int kQueryBytes = 2 * S::kRows * S::kHead;
template <class S>
constexpr int kWeightBytes = S::kInRegisters ? 0 : 2 * S::kRows * S::kKeys;
template <class S>
constexpr int kSharedBytes = kQueryBytes<S> + 2 * S::kStages * kTileBytes<S> + kWeightBytes<S>;

constexpr int kUnfusedTile = 64;  // columns of the scores that a block of the unfused kernels computes
constexpr int kRowThreads = 256;  // that compute the softmax of one row there

// For the unfused kernels: scores in FP32 and weights in bfloat16, with `pitch` elements in each row.
struct Unfused {
  float* scores;
  void* weights;
  int pitch;
};
