// The accesses of a whole warp, seen at once.
//
// Most loads and stores are plain, and each of their lanes may access its place. Then the checks look at all lanes in
// one step, and the executor takes its short cuts. Anything else is seen lane by lane (BlockObserver::touch).
#pragma once
#include "common/simulator/exec/observer.hpp"

#include <array>
#include <vector>

namespace cudasim {

class Together {
 public:
  // Whether the lanes of `mask` are about to access memory so, and what. If they are, the executor may access it
  // without a look-up until ended().
  bool begins(Warp& warp, const Site& site, u32 mask);
  void ended(Warp& warp);
  // The same, lane by lane.
  void list(Block& block, std::vector<Touch>& touches) const;

  u32 lanes = 0, size = 0;  // bytes a lane
  bool writes = false, shared = false;
  u32 follows = 0, repeats = 0;  // lanes whose address is the next one after the lane's before; is the same
  u32 silent = 0;  // lanes that write the value that was there
  u64 begin = 0, host = 0;  // of the memory: as Touch::address has it, and on the host
  alignas(64) u32 offset[kWarpSize + 1] = {};  // in it; those of other lanes are the first lane's
  u64 address(u32 lane) const { return begin + offset[lane]; }
  // Most lanes go where no other lane leads to.
  bool scattered() const { return __builtin_popcount(lanes & ~(follows | repeats)) > 8; }
  bool row() const { return (follows | 1) == kAllLanes; }  // all lanes follow each other

 private:
  bool find(Warp& warp, const Instruction& i, Slot base);
  const View* lend(const Instruction& i, u64 context, u64 first);
  bool apart() const;
  template <class F>
  void each_word(F f) const;

  alignas(64) u64 before_[2 * kWarpSize];  // what it overwrites
  View* views_ = nullptr;                  // the warp's own
  std::array<View, kViews> lent_;
  u64 epoch_ = ~u64{0};  // of those
};

}  // namespace cudasim
