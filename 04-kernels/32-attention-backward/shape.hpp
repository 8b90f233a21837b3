// What host and kernels agree on: the shape of each kernel, and the arguments.
#pragma once
#include "04-kernels/attention.hpp"

// A block computes the gradients of kRows rows of k and v. In each step, it uses kStep rows of q and of o's gradient.
template <int kD>
struct ByKeys {
  static constexpr int kHead = kD;
  static constexpr int kRows = 64, kWarpRows = 16, kStep = 64;  // kWarpRows: the rows of a warp
  static constexpr int kStages = 2;                             // each holds the tiles of a step
  static constexpr int kBlocks = 2;                             // that must fit on a multiprocessor
  static constexpr bool kPairs = false;                         // of warps, which have the same rows
  static constexpr bool kAtomics = false;                       // adds to the gradient of q, too
  static constexpr bool kCoalesced = false;
  static constexpr bool kMultiplies = true, kAdds = true;  // for control runs
};
template <int kD>
struct Atomics : ByKeys<kD> {
  static constexpr int kRows = 128, kBlocks = 1;
  static constexpr int kQueryRows = 16;  // of the gradient of q, which a warp computes in each step
  static constexpr bool kAtomics = true;
};
template <int kD>
struct Coalesced : Atomics<kD> {
  static constexpr bool kCoalesced = true;
};
template <int kD>
struct Pairs : Coalesced<kD> {
  static constexpr int kWarpRows = kD == 64 ? 64 : 32, kStep = kD == 64 ? 32 : 64, kStages = 3;
  static constexpr int kBlocks = kD == 64 ? 2 : 1, kQueryRows = kD == 64 ? 16 : 32;
  static constexpr bool kPairs = true;
};
template <int kD>
struct PairsFixed : Pairs<kD> {
  static constexpr bool kAtomics = false;
};
// A block computes the gradients of kRows rows of q. In each step, it uses kStep rows of k and v.
template <int kD>
struct ByQueries {
  static constexpr int kHead = kD;
  static constexpr int kRows = 128, kWarpRows = 32, kStep = kD == 64 ? 64 : 32, kStages = 2;
  static constexpr int kBlocks = 2;
  static constexpr bool kPairs = false, kAtomics = false;
};

// Control runs, whose gradients are wrong: with the products for the gradient of q, but without adding them; and with
// nothing but additions.
template <class S>
struct NoAdditions : S {
  static constexpr bool kAdds = false;
};
template <class S>
struct OnlyAdditions : S {
  static constexpr bool kMultiplies = false;
};

template <class S>
constexpr int kThreads = 32 * (S::kRows / S::kWarpRows) * (S::kPairs ? 2 : 1);
template <class S>
constexpr int kOwnBytes = 2 * S::kRows * S::kHead;  // of one of the two tiles that the block keeps
template <class S>
constexpr int kStepBytes = 2 * S::kStep * S::kHead;  // of one of the two tiles of a step
template <class S>
constexpr int kStageBytes = 2 * kStepBytes<S> + 8 * S::kStep;  // with the lse and the delta of its rows
template <class S>
constexpr int kScoreBytes = 2 * S::kRows * S::kStep;  // of a tile of weights, or of the gradients of scores
template <class S>
constexpr int kSharedBytes = 2 * kOwnBytes<S> + S::kStages * kStageBytes<S> +
                             ((S::kPairs ? 2 : 0) + (S::kAtomics ? S::kPairs ? 2 : 1 : 0)) * kScoreBytes<S>;

constexpr int kRowsOfPrepare = 8, kRowsOfConvert = 64;  // of a block
constexpr int kPadding = 256;  // lse, delta and sums have a multiple of this many rows for each head

// The gradients have the shapes of the matrices, in bfloat16.
struct Gradients {
  const void* o;  // the gradient of o, the input
  void *q, *k, *v;
  float* sums;         // of q, in FP32; nullptr if there are no atomics
  float *lse, *delta;  // for each row: its lse × log2 e; the product of its rows of o and of the gradient of o
  int pitch;           // rows of sums, lse and delta for each head
};
