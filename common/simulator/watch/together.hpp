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
  alignas(64) u64 address[kWarpSize];  // as Touch has them; those of other lanes are the first lane's
  u64 host = 0;  // what has to be added to them
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
