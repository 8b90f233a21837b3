// What looks on while a grid runs: checks, counters, traces. The executor tells it; it changes nothing.
//
// A grid that is observed stays on the thread that launched it, so an observer needs no locks and says the same in
// every run. A block without an observer pays for one null pointer, which is tested once for a run of instructions, a
// barrier or a reconvergence. If the observer wants accesses, each one goes through access(): the executor's short
// cuts, which look at all addresses of a warp at once, find nothing to take (no views, no quick_shared_bytes), unless
// the observer lends them to an instruction whose accesses it has looked at itself.
#pragma once
#include "common/simulator/exec/access.hpp"

#include <memory>

namespace cudasim {

struct Fault;

// One lane's access to memory.
struct Touch {
  Touch() {}  // leaves `before` as it is
  u32 lane = 0;
  Access kind = Access::read;
  Space space = Space::global;  // global, shared or local
  bool silent = false;          // a write of the value that was there already
  bool asynchronous = false;
  u32 size = 0;
  u64 address = 0;         // in `owner`'s shared memory, in the thread's local memory, or on the device
  Block* owner = nullptr;  // of shared memory
  std::byte* at = nullptr;
  static constexpr u32 kKept = 16;
  std::byte before[kKept];  // what a small write overwrites
};

// Where a value that a call passes lies, in the caller's or in the callee's frame.
struct Passed {
  const Frame* frame = nullptr;
  bool in_register = false;
  Slot slot = kNoSlot;  // in_register; else
  u32 local = 0;        // from the beginning of the thread's local memory
};

// Observes one block.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  virtual void start() = 0;  // the block begins

  // ---- Memory

  // Whether it wants accesses and instructions.
  bool wants_accesses() const { return wants_accesses_; }
  // A lane is about to touch `size` bytes at `at` on the host. `address`: in the state space.
  virtual void touch(u32 lane, Space space, u64 address, std::byte* at, u32 size, Access kind) = 0;
  // An instruction is about to run for the lanes of `mask`; has run; has ended the kernel.
  virtual void begins(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) = 0;
  virtual void executed(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) = 0;
  virtual void failed(Warp& warp, const Fault& fault) = 0;
  // The accesses from now on to the end of the instruction belong to an asynchronous copy.
  virtual void asynchronous() = 0;
  // A call begins: the executing lanes' local memory from `offset` on is new; so are the registers of `frame`.
  virtual void local_is_new(const Warp& warp, u32 offset, u32 size) = 0;
  virtual void frame_is_new(const Frame& frame) = 0;
  // The executing lanes pass a parameter or a result of `size` bytes (0: a predicate).
  virtual void passed(const Warp& warp, const Passed& to, const Passed& from, u32 size) = 0;
  // A builtin function has written its result there.
  virtual void local_is_written(const Warp& warp, u32 lane, u32 offset, u32 size) = 0;

  // ---- Synchronization

  // The executing lanes arrive at a barrier; it opens for those that wait there.
  virtual void arrive(Warp& warp, const Instruction& at, u32 id, u32 count) = 0;
  virtual void open(u32 id) = 0;
  // The executing lanes execute a .sync instruction together; `members` is each lane's member mask.
  virtual void meet(Warp& warp, const Instruction& at, const u32* members) = 0;
  // bar.warp.sync, which lanes may reach at different instructions: they arrive, and are all there.
  virtual void come(Warp& warp, const Instruction& at, const u32* members) = 0;
  virtual void met(Warp& warp, u32 lanes) = 0;
  virtual void fence(Warp& warp, const Instruction& at) = 0;
  virtual void cluster_arrive(Warp& warp) = 0;
  virtual void cluster_open() = 0;
  // What a lane has done becomes visible to those that acquire the mbarrier at `at`; it acquires.
  virtual void release(Warp& warp, u32 lane, std::byte* at) = 0;
  virtual void acquire(Warp& warp, u32 lane, std::byte* at) = 0;
  // Asynchronous copies: a group is committed (bulk copies have their own); all but the last `pending` groups have been
  // waited for; an mbarrier counts them.
  virtual void commit(Warp& warp, bool bulk) = 0;
  virtual void wait(Warp& warp, u32 lane, u32 pending, bool bulk) = 0;
  virtual void wait_all(Warp& warp) = 0;
  virtual void release_copies(Warp& warp, u32 lane, std::byte* at) = 0;

 protected:
  bool wants_accesses_ = false;
};

// Observes one grid. Launch::observe makes it.
class GridObserver {
 public:
  virtual ~GridObserver() = default;
  virtual std::unique_ptr<BlockObserver> observe(Block& block) = 0;
  View& view_of(u64 address);  // of global memory, for access()

 private:
  static constexpr u32 kViews = 8;
  View views_[kViews];
  u64 epoch_ = ~u64{0};
};

}  // namespace cudasim
