// What the checks see of a grid while it runs. A block that nobody watches has none of this: the only trace in the
// executor is a pointer that is null.
//
// A watched grid stays on the thread that launched it, so that a check needs no locks and says the same each time.
// Accesses are told one by one: the executor's short cuts, which look at a warp's addresses all at once, find nothing
// to take while somebody watches (no views, no quick_shared_bytes), and everything goes through access().
#pragma once
#include "common/simulator/check/init.hpp"
#include "common/simulator/check/race.hpp"
#include "common/simulator/check/sync.hpp"
#include "common/simulator/exec/access.hpp"
#include "common/simulator/profile/sight.hpp"

#include <memory>
#include <vector>

namespace cudasim {

// Of a grid; null pointers for what is not checked.
class GridWatch {
 public:
  explicit GridWatch(Grid& grid);
  ~GridWatch();

  bool needed() const { return checks_accesses() || sync || sight != nullptr; }
  bool checks_accesses() const { return races != nullptr || reads != nullptr; }
  View& view_of(u64 address);  // of global memory, for access()

  Grid& grid;
  std::unique_ptr<GridRaces> races;
  std::unique_ptr<GridReads> reads;
  bool sync = false;
  std::unique_ptr<Sight> sight;  // those who look on, if any do

 private:
  static constexpr u32 kViews = 8;
  View views_[kViews];
  u64 epoch_ = ~u64{0};
};

// Of a block.
class Watch {
 public:
  Watch(GridWatch& grid, Block& block);
  ~Watch();
  void start();  // the block begins

  // ---- Memory

  // Whether they, and instructions, are to be told. It may be another one of the same grid's blocks that is looked at.
  bool accesses() const { return accesses_; }
  // A lane is about to touch memory: `size` bytes which lie at `at` on the host. `address`: in the state space.
  void touch(Warp& warp, u32 lane, Space space, u64 address, std::byte* at, u32 size, Access kind);
  // An instruction is about to run for the lanes of `mask`; is done; or has ended the kernel.
  void begins(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) {
    if (sight_ != nullptr) sight_->begin(warp, code, instruction, mask);
  }
  void executed(Warp& warp, const Code& code, const Instruction& instruction, u32 mask);
  void failed(Warp& warp, const Fault& fault) {
    if (sight_ != nullptr) sight_->fault(warp, fault);
  }
  // What touches memory from now on to the end of the instruction is a copy that goes on behind it.
  void asynchronous() { asynchronous_ = true; }
  // A call begins, or a call's parameters are passed: `lanes`' local memory from `offset` on is new, or written.
  void local_is_new(const Warp& warp, u32 lanes, u32 offset, u32 size);
  void local_is_written(const Warp& warp, u32 lanes, u32 offset, u32 size);

  // ---- Synchronisation

  // Lanes arrive at a barrier; it opens for those that wait there.
  void arrive(Warp& warp, const Instruction& at, u32 id, u32 count);
  void open(u32 id);
  // The executing lanes have met for a .sync instruction; `members`: what each says who takes part.
  void meet(Warp& warp, const Instruction& at, const u32* members);
  // The same for bar.warp.sync, to which lanes may come from different instructions: they arrive, and have met.
  void come(Warp& warp, const Instruction& at, const u32* members);
  void met(Warp& warp, u32 lanes);
  void fence(Warp& warp, const Instruction& at);
  void cluster_arrive(Warp& warp);
  void cluster_open();
  // What the executing lane has done is known to who acquires the mbarrier at `at`, and the other way round.
  void release(Warp& warp, u32 lane, std::byte* at);
  void acquire(Warp& warp, u32 lane, std::byte* at);
  // Asynchronous copies: a group ends, of bulk copies or of the others; all but the last `pending` groups are waited
  // for; an mbarrier counts them.
  void commit(Warp& warp, bool bulk);
  void wait(Warp& warp, u32 lane, u32 pending, bool bulk);
  void wait_all(Warp& warp);
  void release_copies(Warp& warp, u32 lane, std::byte* at);

  BlockRaces* races() const { return races_.get(); }
  BlockReads* reads() const { return reads_.get(); }

 private:
  void hand_on(Warp& warp, const Place& place);

  GridWatch& grid_;
  Block& block_;
  std::unique_ptr<BlockRaces> races_;
  std::unique_ptr<BlockReads> reads_;
  std::unique_ptr<BlockSync> sync_;
  std::vector<Touch> touches_;
  Sight* sight_ = nullptr;  // if it sees this block
  bool accesses_ = false;
  bool asynchronous_ = false;
};

}  // namespace cudasim
