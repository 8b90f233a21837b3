// Divergence and reconvergence: how the lanes of a warp split into fragments, wait for each other and reconverge.
#pragma once
#include "common/simulator/exec/warp.hpp"

namespace cudasim {

// The executing lanes go to `target`, the rest of the fragment goes on at warp.pc; they meet at `meet` (kNoTarget:
// nowhere in particular).
void diverge(Warp& warp, u32 target, u32 meet);
// The lanes of the fragment that do not execute this instruction wait for the others at warp.pc.
void leave_rest_behind(Warp& warp);
// `lanes` of the fragment go to `pc`; they meet the others at `meet`.
void split_off(Warp& warp, u32 lanes, u32 pc, u32 meet);

// The executing lanes end.
void exit_lanes(Warp& warp);

// The executing lanes stop here while others continue. Setting `wait` back to none wakes them up at `pc`.
Fragment& park(Warp& warp, const Instruction& at, Wait wait, u32 pc);

// For .sync operations, before anything else: true once all live lanes of the member mask (a register or constant;
// kNoSlot: all lanes) are in warp.mask, which then holds those that came earlier too. False: the lanes wait, or some of
// those that came earlier are at other instructions, and the exchange has been executed for all (exchange.hpp); the
// handler returns.
bool gather(Warp& warp, const Instruction& instruction, Slot members);
// bar.warp.sync
void meet_in_warp(Warp& warp, const Instruction& instruction, Slot members);

// After a change of warp.pc or of the fragments: where the fragment has to look up again.
void plan(Warp& warp);
inline bool alone(const Warp& warp) { return warp.join == nullptr && warp.fragments.empty(); }

// The fragment has reached warp.stop: merges it with what waits there and picks the next one. False: none can run.
bool settle(Warp& warp);
// Puts the running fragment back among the others. `impatient`: lanes that wait for others at a join go on without.
void suspend(Warp& warp, bool impatient);

// Goes to another frame.
void enter(Warp& warp, Frame* frame, u32 pc, Join* join);
// The fragment's lanes return from a function: each goes on to meet whom it was to meet when it called.
void leave_frame(Warp& warp);
Frame* new_frame(const Code& code);
void delete_frame(Frame* frame);
// Forgets everything, after a fault.
void clear_fragments(Warp& warp);

inline u32 index_of(const Warp& warp, const Instruction& instruction) {
  return static_cast<u32>(&instruction - warp.code);
}

}  // namespace cudasim
