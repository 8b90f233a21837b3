// Loads by the TMA, and the barriers between the warpgroup that issues them and those that multiply.
#pragma once
#include "work.hpp"

#include <cstdint>

template <class S>
__device__ void initialize(Shared<S>& shared) {
  constexpr int kWarps = 4 * S::kConsumers;  // each of them arrives
  hopper::mbarrier_init(shared.full_q, 1), hopper::mbarrier_init(shared.empty_q, kWarps);
  for (int s = 0; s < S::kStages; ++s) {
    hopper::mbarrier_init(shared.full_k[s], 1), hopper::mbarrier_init(shared.empty_k[s], kWarps);
    hopper::mbarrier_init(shared.full_v[s], 1), hopper::mbarrier_init(shared.empty_v[s], kWarps);
  }
  hopper::fence_mbarrier_init();
}

// Loads a tile of `rows` rows, one box for every 128 bytes. In a control run, only arrives. The maps count in bfloat16,
// and two elements of e4m3 are one.
template <class S>
__device__ void load_tile(unsigned char* to, const CUtensorMap& map, int rows, int row, int head, std::uint64_t& full,
                          bool loads = true) {
  hopper::mbarrier_arrive_expect_tx(full, loads ? rows * S::kHead * S::kBytes : 0);
  if (!loads) return;
#pragma unroll
  for (int i = 0; i < S::kHead * S::kBytes / kBoxRowBytes; ++i) {
    hopper::tma_load(to + i * rows * kBoxRowBytes, map, i * kBox, row, head, full);
  }
}

// Loads the values of a tile of keys.
template <class S>
__device__ void load_values(unsigned char* to, const CUtensorMap& map, int key, int head, std::uint64_t& full,
                            bool loads = true) {
  if constexpr (S::kBytes == 2) {
    load_tile<S>(to, map, S::kKeys, key, head, full, loads);
  } else {
    static_assert(S::kKeys == kBoxRowBytes, "a tile is one box");
    hopper::mbarrier_arrive_expect_tx(full, loads ? kTileBytes<S> : 0);
    if (loads) hopper::tma_load(to, map, key / 2, 0, head, full);
  }
}

// The producer, one thread: loads everything that the block needs, in the order in which it is needed.
template <class S>
__device__ void produce(const Arguments& p, Shared<S>& shared) {
  const int all = p.heads * parts_of_head<S>(p.attention);
  for (int part = 0, round = 0;; ++part) {
    const int number = next_part<S>(p, part);
    hopper::mbarrier_wait(shared.empty_q, (part + 1) % 2);  // at first, everything is empty
    shared.item = number;
    if (number >= all) break;
    const Item<S> item(p, number);
    load_tile<S>(shared.q, p.map_q, kRows<S>, item.row, item.head, shared.full_q);
    const int head = item.head / p.attention.group;
    for (int tile = item.tiles - 1; tile >= 0; --tile, ++round) {
      const int s = round % S::kStages, parity = (round / S::kStages + 1) % 2;
      const bool loads = S::kLoads || round < S::kStages;
      hopper::mbarrier_wait(shared.empty_k[s], parity);
      load_tile<S>(shared.k[s], p.map_k, S::kKeys, tile * S::kKeys, head, shared.full_k[s], loads);
      hopper::mbarrier_wait(shared.empty_v[s], parity);
      load_values<S>(shared.v[s], p.map_v, tile * S::kKeys, head, shared.full_v[s], loads);
    }
  }
  hopper::mbarrier_arrive(shared.full_q);  // the consumers see that there is no more
  finish_parts<S>(p);
}

// The turns of two consumers: only the one whose turn it is issues multiplications. In a control run, they begin every
// step together.
template <class S>
class Turns {
  static_assert(!S::kPingPong || S::kConsumers == 2);

 public:
  __device__ explicit Turns(int consumer) : mine_(1 + consumer), theirs_(2 - consumer), first_(consumer == 0) {}
  __device__ void wait() {
    if (S::kInStep) hopper::named_barrier_sync(1, 2 * kGroup);
    if (!S::kPingPong) return;
    if (!first_) hopper::named_barrier_sync(mine_, 2 * kGroup);
    first_ = false;
  }
  __device__ void pass() const {
    if (S::kPingPong) hopper::named_barrier_arrive(theirs_, 2 * kGroup);
  }
  // The first consumer receives the last turn, so that no arrival is left over.
  __device__ void finish() {
    if (S::kPingPong && mine_ == 1) wait();
  }

 private:
  int mine_, theirs_;  // numbers of barriers
  bool first_;
};
