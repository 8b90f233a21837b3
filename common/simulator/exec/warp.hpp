// A warp, as instructions see it: registers lane by lane, the mask of lanes that execute, and what control flow needs.
//
// Lanes that have diverged are fragments of their warp. Each fragment has its own pc, mask and call frame. Lanes that
// diverged at a branch reconverge at the branch's immediate post-dominator, but they never wait there indefinitely:
// lanes make progress independently (compute capability 7.0), so one that spins on its neighbor's lock gets the lock.
// exec/fragments.cpp has the rules.
#pragma once
#include "common/simulator/exec/fault.hpp"
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/numbers.hpp"

#include <cstring>
#include <vector>

namespace cudasim {

class BlockObserver;
struct Block;
struct Join;

// One call of a function by some lanes of a warp, which may make it one after the other: its registers, and where its
// local memory begins in each thread's.
struct Frame {
  const Code* code = nullptr;
  std::byte* registers = nullptr;
  const std::byte* constants = nullptr;
  Frame* caller = nullptr;
  Join* caller_join = nullptr;  // where the lanes reconverge once they have returned
  struct Later {                // except for those that have made the call later, from another path
    u32 lanes = 0;
    Join* caller_join = nullptr;
  };
  std::vector<Later> later;
  const CallSite* site = nullptr;
  u32 return_pc = 0;
  u32 lanes = 0;       // that are in it, or in what it calls; it goes when the last one has left
  u32 local_base = 0;  // offset in a thread's local memory
  u32 depth = 0;
  std::vector<u32> tops;  // with alloca: one end of the local memory for each lane
};

// Where lanes that diverged reconverge.
struct Join {
  u32 pc = 0;
  u32 expected = 0, arrived = 0;  // lanes
  Frame* frame = nullptr;
  Join* parent = nullptr;
};

enum class Wait : u8 {
  none,       // it can run
  barrier,    // bar.sync and its kin; Fragment::barrier is the id
  sync,       // a .sync operation that needs more lanes of its warp at this instruction; Fragment::members
  warp_sync,  // bar.warp.sync, which lanes may meet at from different instructions; Fragment::members
  cluster,    // barrier.cluster.wait
};

enum class Reduction : u8 { none, popc, all, any };  // of bar.red

struct Fragment {
  u32 pc = 0;
  u32 lanes = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  u32 turns = 0;  // times it has used up its share: fewest go first
  Wait wait = Wait::none;
  u32 barrier = 0;
  u32 members = 0;                        // lanes, of a .sync instruction
  Reduction reduction = Reduction::none;  // of a barrier
  const Instruction* at = nullptr;  // where it waits
};

struct Warp : WarpState {
  u32 carry = 0;            // CC.CF, one bit a lane
  u32 index = 0;            // of this warp in its block
  u32 present = 0;          // lanes that exist: all but in the last warp of an odd-sized block
  u32 live = 0;             // lanes that have not exited
  Block* block = nullptr;
  BlockObserver* observer = nullptr;  // null: nothing looks on

  // The fragment that runs.
  u32 turns = 0;
  bool yield = false;       // let others run
  // At a barrier of the block, with all its lanes and nothing else to do: the barrier's number + 1. The same as a
  // fragment that waits there (Block::park_held), and the next instruction is at pc.
  u32 held = 0;
  u32 cluster_pending = 0;  // lanes that have arrived at barrier.cluster, in its present phase
  Frame* frame = nullptr;
  Join* join = nullptr;

  std::vector<Fragment> fragments;  // all others
  std::vector<Join*> joins;         // that lanes wait at, or will
  Frame root;

  template <class T>
  const T* in(Slot slot) const {
    return reinterpret_cast<const T*>(base[slot >> 31] + (slot & ~kConstant));
  }
  template <class T>
  T* out(Slot slot) {
    return reinterpret_cast<T*>(base[0] + slot);
  }
  u32 predicate(Slot slot) const { return *in<u32>(slot); }
  // Writes a predicate for the executing lanes only.
  void set_predicate(Slot slot, u32 value) {
    u32& p = *out<u32>(slot);
    p = (p & ~mask) | (value & mask);
  }
  // To be called for a read that may be one of a spin's: after some without a write, others get their turn.
  static constexpr u32 kPollLimit = 32;
  void poll() {
    if (++polls >= kPollLimit) rest();
  }
  void rest() { yield = true, stop = 0; }
};

// Calls f(lane) for each executing lane, in any order: the full mask has a loop of its own, which the compiler
// vectorizes.
template <class F>
inline void for_lanes(u32 mask, F&& f) {
  if (mask == kAllLanes) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
    for (u32 lane = 0; lane < kWarpSize; ++lane) f(lane);
  } else {
    for (const u32 lane : set_bits(mask)) f(lane);
  }
}

// One bit a lane: where holds(lane), of all lanes. A byte a lane first, which makes vector code.
template <class F>
inline u32 lanes_where(F&& holds) {
  alignas(32) i8 bytes[kWarpSize];
  for_lanes(kAllLanes, [&](u32 lane) { bytes[lane] = holds(lane) ? -1 : 0; });
#if defined(__AVX2__)
  typedef char Bytes __attribute__((vector_size(kWarpSize)));
  Bytes all;
  std::memcpy(&all, bytes, sizeof all);
  return static_cast<u32>(__builtin_ia32_pmovmskb256(all));
#else
  u32 result = 0;
  for (u32 lane = 0; lane < kWarpSize; lane += 8) {
    u64 eight;
    std::memcpy(&eight, bytes + lane, sizeof eight);
    // The lowest bit of each byte, moved next to each other at the top.
    result |= static_cast<u32>((eight & 0x0101010101010101u) * 0x0102040810204080u >> 56) << lane;
  }
  return result;
#endif
}

}  // namespace cudasim
