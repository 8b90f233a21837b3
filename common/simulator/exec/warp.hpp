// A warp, as instructions see it: registers lane by lane, the mask of lanes that execute, and what control flow may ask
// for.
//
// Lanes of a warp that stand at different places are its fragments. Each has its own pc, mask and call frame; lanes
// that diverged at a branch meet again at the branch's immediate post-dominator, but a fragment never waits there for
// ever: lanes make progress independently (compute capability 7.0), so one that spins on its neighbour's lock gets the
// lock.
#pragma once
#include "common/simulator/exec/fault.hpp"
#include "common/simulator/exec/instruction.hpp"

#include <cstring>

namespace cudasim {

struct Block;

struct Warp {
  // What an instruction may use.
  u32 mask = 0;             // lanes that execute it: the fragment's lanes under the guard
  std::byte* base[2] = {};  // [0] the frame's registers, [1] the function's constants
  u32 carry = 0;            // CC.CF, one bit a lane
  Block* block = nullptr;
  u32 index = 0;    // of this warp in its block
  u32 present = 0;  // lanes that exist: all but in the last warp of an odd-sized block
  u32 live = 0;     // lanes that have not exited
  u32 pc = 0;       // of the next instruction; control flow sets it

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
};

// Calls f(lane) for each executing lane. The full mask has a loop of its own, which the compiler turns into vector
// code: f must not depend on the order of lanes.
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
    for (u32 rest = mask; rest != 0; rest &= rest - 1) f(static_cast<u32>(__builtin_ctz(rest)));
  }
}

}  // namespace cudasim
