// What host and kernels agree on: the shape of each kernel, and the arguments.
#pragma once
#include "04-kernels/attention.hpp"
#include "04-kernels/boxes.hpp"

#include <cstdint>

// Each shape changes one thing in an earlier one. kD: elements in a row of q, k, v and o.
template <int kD>
struct OneGroup {
  static constexpr int kHead = kD;
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
  // For control runs. Loads: after the first ones.
  static constexpr bool kInStep = false, kLazy = true, kSoftmax = true, kLoads = true;
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

// Control runs. The results of the last two are wrong.
template <int kD>
struct InStep : Pairs<kD> {
  static constexpr bool kInStep = true;
};
template <int kD>
struct Rescales : Overlap<kD> {
  static constexpr bool kLazy = false;
};
template <int kD>
struct NoSoftmax : Overlap<kD> {
  static constexpr bool kSoftmax = false;
};
template <int kD>
struct OnlyProducts : NoSoftmax<kD> {
  static constexpr bool kLoads = false;
};

template <class S>
constexpr int kRows = kBox * S::kConsumers;  // of q, which a block computes at a time
template <class S>
constexpr int kThreads = kGroup * (S::kConsumers + (S::kProducer ? 1 : 0));

// Tiles consist of boxes that are 64 elements wide, and as high as the tile.
constexpr int kBoxRowBytes = 2 * kBox;
template <class S>
constexpr int kTileBytes = S::kKeys * S::kHead * 2;

// A block's shared memory. full: what the barrier belongs to has been loaded. empty: all consumers have read it.
template <class S>
struct Shared {
  unsigned char q[kRows<S> * S::kHead * 2];
  unsigned char k[S::kStages][kTileBytes<S>], v[S::kStages][kTileBytes<S>];
  std::uint64_t full_q, empty_q, full_k[S::kStages], empty_k[S::kStages], full_v[S::kStages], empty_v[S::kStages];
  int item;  // which part of the work q belongs to
};

// Boxes of the matrices of all heads: kRows rows of q, or kKeys rows of k or v.
struct Arguments {
  CUtensorMap map_q, map_k, map_v;
  Attention attention;
  int heads;
  int section;  // heads whose keys and values fit in the L2 cache together
  // How many parts of the work persistent blocks have taken, and how many blocks have finished. Both are 0 before and
  // after a launch.
  unsigned* taken;
};
