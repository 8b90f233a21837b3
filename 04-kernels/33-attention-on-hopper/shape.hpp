// What host and kernels agree on: the shape of each kernel, and the arguments.
#pragma once
#include "04-kernels/attention.hpp"
#include "04-kernels/boxes.hpp"

#include <cstdint>

// Each shape changes one thing in an earlier one. kD: elements in a row of q, k, v and o.
template <int kD>
struct OneGroup {
  static constexpr int kHead = kD;
  static constexpr int kBytes = 2;      // of an element of q, k and v: bfloat16, or e4m3
  static constexpr int kConsumers = 1;  // warpgroups that multiply, 64 rows of q each
  static constexpr int kKeys = 128;     // rows of k and v in each step
  static constexpr int kStages = 1;     // each holds a tile of k and one of v
  static constexpr int kBlocks = 2;     // that must fit on a multiprocessor
  static constexpr int kRegisters = 232, kProducerRegisters = 40;  // of a thread, if there is a producer
  static constexpr bool kProducer = false;      // another warpgroup loads
  static constexpr bool kPairs = false;         // a step multiplies the next keys and the present values
  static constexpr bool kPingPong = false;      // two consumers alternate
  static constexpr bool kOverlap = false;       // the softmax waits for the scores only
  static constexpr bool kLongestFirst = false;  // if causal
  static constexpr bool kPersistent = false;
  static constexpr bool kOrdered = false;   // the weights are computed before the consumer waits for the output
  static constexpr bool kPromoted = false;  // the sums of each tile are added in FP32
  // For control runs. Loads: after the first ones.
  static constexpr bool kInStep = false, kLazy = true, kSoftmax = true, kOnlyExponentials = false, kLoads = true;
};
template <int kD>
struct Producer : OneGroup<kD> {
  static constexpr int kConsumers = 2, kStages = 2, kBlocks = 1;
  static constexpr bool kProducer = true;
};
// With rows of 64 elements, a consumer needs fewer registers, so there is room for a third one.
template <>
struct Producer<64> : OneGroup<64> {
  static constexpr int kConsumers = 3, kStages = 3, kBlocks = 1;
  static constexpr int kRegisters = 160, kProducerRegisters = 32;
  static constexpr bool kProducer = true;
};
template <int kD>
struct Pairs : Producer<kD> {
  static constexpr bool kPairs = true;
};
template <int kD>
struct PingPong : Pairs<kD> {
  static constexpr bool kPingPong = true;
};
template <int kD>
struct Overlap : Pairs<kD> {
  static constexpr bool kOverlap = true;
};
template <int kD>
struct Both : Overlap<kD> {
  static constexpr bool kPingPong = true;
};
template <int kD>
struct LongestFirst : Overlap<kD> {
  static constexpr bool kLongestFirst = true;
};
template <int kD>
struct Persistent : LongestFirst<kD> {
  static constexpr bool kPersistent = true;
};

// Elements in e4m3.
template <int kD>
struct E4m3 : Persistent<kD> {
  static constexpr int kBytes = 1;
  static constexpr bool kOrdered = true;
};
template <int kD>
struct Promoted : E4m3<kD> {
  static constexpr int kRegisters = 240, kProducerRegisters = 24;
  static constexpr bool kPromoted = true, kLazy = false;
};

// Control runs. Without a softmax, the results are wrong.
template <class S>
struct InStep : S {
  static constexpr bool kInStep = true;
};
template <class S>
struct Rescales : S {
  static constexpr bool kLazy = false;
};
template <class S>
struct NoSoftmax : S {
  static constexpr bool kSoftmax = false;
};
template <class S>
struct OnlyExponentials : S {
  static constexpr bool kOnlyExponentials = true;
};
template <class S>
struct OnlyProducts : NoSoftmax<S> {
  static constexpr bool kLoads = false;
};
template <class S>
struct Ordered : S {
  static constexpr bool kOrdered = true;
};
template <class S>
struct Unordered : S {
  static constexpr bool kOrdered = false;
};

template <class S>
constexpr int kRows = kBox * S::kConsumers;  // of q, which a block computes at a time
template <class S>
constexpr int kThreads = kGroup * (S::kConsumers + (S::kProducer ? 1 : 0));

// Tiles consist of boxes that are 128 bytes wide, and as high as the tile.
constexpr int kBoxRowBytes = 128;
constexpr int kStepBytes = 32;  // of each row, which a wgmma multiplies
template <class S>
constexpr int kTileBytes = S::kKeys * S::kHead * S::kBytes;

// A block's shared memory. full: what the barrier belongs to has been loaded. empty: all consumers have read it.
template <class S>
struct Shared {
  unsigned char q[kRows<S> * S::kHead * S::kBytes];
  unsigned char k[S::kStages][kTileBytes<S>], v[S::kStages][kTileBytes<S>];
  std::uint64_t full_q, empty_q, full_k[S::kStages], empty_k[S::kStages], full_v[S::kStages], empty_v[S::kStages];
  int item;  // which part of the work q belongs to
};

// If the elements are e4m3: what the elements of each head of q, k and v are multiples of.
struct Scales {
  const float *q, *k, *v;
};

// Boxes of the matrices of all heads: kRows rows of q, or kKeys rows of k or v. In e4m3, v is transposed, and its boxes
// have all rows and kKeys columns.
struct Arguments {
  CUtensorMap map_q, map_k, map_v;
  Attention attention;
  int heads;
  int section;  // heads whose keys and values fit in the L2 cache together
  // How many parts of the work persistent blocks have taken, and how many blocks have finished. Both are 0 before and
  // after a launch.
  unsigned* taken;
  Scales scales;
};
