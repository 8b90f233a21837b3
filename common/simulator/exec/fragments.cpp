// Divergence and reconvergence: how the lanes of a warp split into fragments, wait for each other and reconverge.
//
// A divergent branch makes a Join at its immediate post-dominator, where lanes wait until all that are expected have
// arrived. Among the fragments that can run, the one at the lowest instruction runs first; a fragment that reaches the
// instruction of another merges with it, so lanes also reconverge where no post-dominator requires it. Three rules
// prevent a deadlock: if no fragment can run, or if the running one spins, lanes leave their join without the others;
// and a fragment that has used up its share lets the others run first.
#include "common/simulator/exec/fragments.hpp"

#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/exchange.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

namespace cudasim {
namespace {

constexpr u32 kNever = ~u32{0};

Join* new_join(Warp& warp, u32 pc, u32 expected, Join* parent) {
  auto* join = new Join{pc, expected, 0, warp.frame, parent};
  warp.joins.push_back(join);
  return join;
}

void delete_join(Warp& warp, Join* join) {
  // The last ones made go first.
  auto found = std::find(warp.joins.rbegin(), warp.joins.rend(), join);
  *found = warp.joins.back();
  warp.joins.pop_back();
  delete join;
}

Fragment current(const Warp& warp) {
  Fragment fragment;
  fragment.pc = warp.pc;
  fragment.lanes = warp.lanes;
  fragment.frame = warp.frame;
  fragment.join = warp.join;
  fragment.turns = warp.turns;
  return fragment;
}

void add(Warp& warp, u32 pc, u32 lanes, Frame* frame, Join* join) {
  Fragment fragment = current(warp);
  fragment.pc = pc;
  fragment.lanes = lanes;
  fragment.frame = frame;
  fragment.join = join;
  warp.fragments.push_back(fragment);
}

void go_on(Warp& warp, const Fragment& fragment) {
  warp.lanes = fragment.lanes;
  warp.turns = fragment.turns;
  enter(warp, fragment.frame, fragment.pc, fragment.join);
}

// The join that the fragment's lanes will meet at, at `pc`; made unless a loop has brought them here before.
Join* join_at(Warp& warp, u32 pc) {
  if (warp.join == nullptr || warp.join->pc != pc) warp.join = new_join(warp, pc, warp.lanes, warp.join);
  return warp.join;
}

// Those that wait at a join go on from there, without the others.
void release(Warp& warp, Join* join, u32 turns) {
  const u32 lanes = join->arrived;
  add(warp, join->pc, lanes, join->frame, join->parent);
  warp.fragments.back().turns = turns;
  join->expected &= ~lanes;
  join->arrived = 0;
  if (join->expected == 0) delete_join(warp, join);
}

bool release_all(Warp& warp) {
  bool any = false;
  for (std::size_t i = warp.joins.size(); i-- > 0;) {  // release() may move the last one to i, which has been looked at
    if (warp.joins[i]->arrived != 0) release(warp, warp.joins[i], 0), any = true;
  }
  return any;
}

// `lanes` will not come any more, to this join nor to those around it.
void abandon(Warp& warp, Join* join, u32 lanes) {
  while (join != nullptr && lanes != 0) {
    Join* parent = join->parent;
    join->expected &= ~lanes;
    if (join->expected == join->arrived) {
      if (join->arrived != 0)
        release(warp, join, warp.turns);
      else
        delete_join(warp, join);
    }
    join = parent;
  }
}

// Which fragment runs first: the one with the smallest share used, then the innermost call, then the lowest pc.
bool before(const Fragment& a, const Fragment& b) {
  if (a.turns != b.turns) return a.turns < b.turns;
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.pc < b.pc;
}

Fragment* first(Warp& warp) {
  Fragment* best = nullptr;
  for (Fragment& f : warp.fragments) {
    if (f.wait == Wait::none && (best == nullptr || before(f, *best))) best = &f;
  }
  return best;
}

void erase(Warp& warp, Fragment* fragment) {
  *fragment = warp.fragments.back();
  warp.fragments.pop_back();
}

bool pick(Warp& warp) {
  Fragment* next = first(warp);
  if (next == nullptr && release_all(warp)) next = first(warp);
  if (next == nullptr) return false;
  const Fragment fragment = *next;
  erase(warp, next);
  go_on(warp, fragment);
  return true;
}

void merge_equals(Warp& warp) {
  for (std::size_t i = warp.fragments.size(); i-- > 0;) {
    Fragment& f = warp.fragments[i];
    if (f.wait != Wait::none || f.pc != warp.pc || f.frame != warp.frame || f.join != warp.join) continue;
    warp.lanes |= f.lanes;
    warp.turns = std::max(warp.turns, f.turns);
    erase(warp, &f);
  }
}

void let_lower_go_first(Warp& warp) {
  Fragment* next = first(warp);
  if (next == nullptr) return;
  const Fragment self = current(warp);
  if (!before(*next, self)) return;
  const Fragment fragment = *next;
  *next = self;
  go_on(warp, fragment);
}

// True if the fragment goes on at once: it was the last.
bool arrive(Warp& warp) {
  Join* join = warp.join;
  join->arrived |= warp.lanes;
  warp.lanes = 0;
  if (join->arrived != join->expected) return false;
  warp.lanes = join->arrived;
  warp.join = join->parent;
  delete_join(warp, join);
  return true;
}

// Those that wait at bar.warp.sync and have all come, or have exited, go on.
void wake_met(Warp& warp) {
  u32 waiting = 0;
  for (const Fragment& f : warp.fragments) waiting |= f.wait == Wait::warp_sync ? f.lanes : 0;
  for (Fragment& f : warp.fragments) {
    if (f.wait != Wait::warp_sync || (f.members & warp.live & ~waiting) != 0) continue;
    if (warp.observer != nullptr) warp.observer->met(warp, (f.members | f.lanes) & waiting);
    f.wait = Wait::none;
  }
}

}  // namespace

void plan(Warp& warp) {
  u32 stop = kNever;
  if (warp.join != nullptr && warp.join->pc >= warp.pc) stop = warp.join->pc;
  for (const Fragment& f : warp.fragments) {
    if (f.wait == Wait::none && f.frame == warp.frame && f.join == warp.join && f.pc >= warp.pc)
      stop = std::min(stop, f.pc);
  }
  warp.stop = warp.yield || warp.lanes == 0 ? 0 : stop;
}

void enter(Warp& warp, Frame* frame, u32 pc, Join* join) {
  warp.frame = frame;
  warp.join = join;
  warp.pc = pc;
  warp.code = frame->code->instructions.data();
  warp.base[0] = frame->registers;
  warp.base[1] = const_cast<std::byte*>(frame->constants);
  plan(warp);
}

void diverge(Warp& warp, u32 target, u32 meet) {
  const u32 taken = warp.mask, rest = warp.lanes & ~taken, next = warp.pc;
  Join* join = meet == kNoTarget ? nullptr : join_at(warp, meet);
  if (target == next) {  // both ways are one
    plan(warp);
  } else if (join != nullptr && target == meet) {
    join->arrived |= taken;
    warp.lanes = rest;
  } else if (join != nullptr && next == meet) {
    join->arrived |= rest;
    warp.lanes = taken;
    warp.pc = target;
  } else if (target < next) {
    add(warp, next, rest, warp.frame, warp.join);
    warp.lanes = taken;
    warp.pc = target;
  } else {
    add(warp, target, taken, warp.frame, warp.join);
    warp.lanes = rest;
  }
  plan(warp);
}

void leave_rest_behind(Warp& warp) {
  const u32 rest = warp.lanes & ~warp.mask;
  if (rest == 0) return;
  join_at(warp, warp.pc)->arrived |= rest;
  warp.lanes = warp.mask;
}

void split_off(Warp& warp, u32 lanes, u32 pc, u32 meet) {
  join_at(warp, meet);
  add(warp, pc, lanes, warp.frame, warp.join);
  warp.lanes &= ~lanes;
}

void exit_lanes(Warp& warp) {
  const u32 gone = warp.mask;
  warp.lanes &= ~gone;
  warp.live &= ~gone;
  if (warp.live == 0 && alone(warp) && warp.frame == &warp.root) {  // as most warps end
    warp.root.lanes = warp.stop = 0;
    return warp.block->threads_exited(warp, gone);
  }
  abandon(warp, warp.join, gone);
  for (Frame* frame = warp.frame; frame != nullptr;) {
    Frame* caller = frame->caller;
    u32 first = gone;
    for (Frame::Later& each : frame->later) {
      abandon(warp, each.caller_join, gone & each.lanes);
      first &= ~each.lanes;
      each.lanes &= ~gone;
    }
    abandon(warp, frame->caller_join, first);
    frame->lanes &= ~gone;
    if (frame->lanes == 0 && caller != nullptr) delete_frame(frame);
    frame = caller;
  }
  for (Fragment& f : warp.fragments) {  // they may have waited for just these
    if (f.wait == Wait::sync) f.wait = Wait::none;  // executes the instruction again
  }
  wake_met(warp);
  warp.block->threads_exited(warp, gone);
  if (warp.lanes != 0)
    plan(warp);
  else
    warp.stop = 0;
}

Fragment& park(Warp& warp, const Instruction& at, Wait wait, u32 pc) {
  Fragment fragment = current(warp);
  fragment.pc = pc;
  fragment.lanes = warp.mask;
  fragment.wait = wait;
  fragment.at = &at;
  warp.fragments.push_back(fragment);
  warp.lanes &= ~warp.mask;
  if (warp.lanes == 0) warp.stop = 0;
  return warp.fragments.back();
}

namespace {

// An aligned instruction needs all lanes of the warp in one call of its function. Lanes that wait for nothing else
// would deadlock. `here`: those that wait in the running fragment's call.
void refuse_other_calls(const Warp& warp, const Instruction& instruction, u32 here) {
  u32 anywhere = 0, members = 0;
  for (const Fragment& f : warp.fragments) {
    if (f.wait != Wait::sync || f.at != &instruction) continue;
    anywhere |= f.lanes;
    members |= f.members;
  }
  if ((members & warp.live & ~anywhere) != 0 || (anywhere & ~here) == 0) return;
  throw Fault{
      .kind = FaultKind::illegal_instruction,
      .what = "an aligned .sync instruction that " + cudasim::members("lane", here) + " and " +
              cudasim::members("lane", anywhere & ~here) +
              " reached through different calls of its function: all lanes of the warp must execute it together",
      .lane = first_lane(here)};
}

bool waits_here(const Warp& warp, const Instruction& instruction, const Fragment& f) {
  return f.wait == Wait::sync && f.at == &instruction && f.frame == warp.frame;
}

// The lanes that execute an exchange or wait for it, and their member masks.
struct Arrived {
  u32 here = 0;  // at the instruction that executes, in its call
  u32 elsewhere = 0;  // at other instructions, or in other calls
  std::array<u32, kWarpSize> masks{};

  // Lanes at different places find each other only if they name the same members.
  u32 with_mask_of(u32 lane) const {
    u32 lanes = 0;
    for (const u32 other : set_bits(here | elsewhere)) lanes |= u32{masks[other] == masks[lane]} << other;
    return lanes;
  }
  bool complete(const Warp& warp, u32 lane) const {
    return (masks[lane] & warp.live & ~(here | with_mask_of(lane))) == 0;
  }
  u32 elsewhere_with(u32 lanes) const {
    u32 others = 0;
    for (const u32 lane : set_bits(lanes)) others |= elsewhere & masks[lane] & with_mask_of(lane);
    return others;
  }
};

Arrived who_has_arrived(const Warp& warp, const Instruction& instruction, Slot slot, const u32* members) {
  Arrived arrived;
  arrived.here = warp.mask;
  for (const Fragment& f : warp.fragments) {
    const bool here = waits_here(warp, instruction, f);
    const bool elsewhere = !here && slot != kNoSlot && f.wait == Wait::sync && same_exchange(*f.at, instruction);
    if (here) arrived.here |= f.lanes;
    if (!elsewhere) continue;
    arrived.elsewhere |= f.lanes;
    const u32 operand = static_cast<u32>(std::find(instruction.slot, instruction.slot + 6, slot) - instruction.slot);
    const u32* masks = masks_at(*f.frame, f.at->slot[operand]);
    for (const u32 lane : set_bits(f.lanes)) arrived.masks[lane] = masks[lane];
  }
  for (const u32 lane : set_bits(arrived.here)) arrived.masks[lane] = members[lane];
  return arrived;
}

// Those of `lanes` that wait at this instruction become part of the running fragment, or go on beside it.
void join_those_who_wait(Warp& warp, const Instruction& instruction, u32 lanes) {
  for (std::size_t i = warp.fragments.size(); i-- > 0;) {
    Fragment& f = warp.fragments[i];
    const u32 come = f.lanes & lanes;
    if (!waits_here(warp, instruction, f) || come == 0) continue;
    f.lanes &= ~come;
    const Fragment from = f;
    if (f.lanes == 0) erase(warp, &f);
    if (from.join == warp.join && warp.lanes != 0)
      warp.lanes |= come;
    else
      add(warp, warp.pc, come, from.frame, from.join);
  }
}

}  // namespace

bool gather(Warp& warp, const Instruction& instruction, Slot slot) {
  static constexpr auto kEverybody = [] {
    std::array<u32, kWarpSize> masks{};
    for (u32& mask : masks) mask = kAllLanes;
    return masks;
  }();
  if (slot != kNoSlot && (instruction.control & kGathered) != 0) return true;
  const u32* members = slot == kNoSlot ? kEverybody.data() : warp.in<u32>(slot);
  u32 all = 0;
  for (const u32 lane : set_bits(warp.mask)) all |= members[lane];
  if ((all & warp.live & ~warp.mask) == 0) {
    if (warp.observer != nullptr) warp.observer->meet(warp, instruction, members);
    return true;
  }

  const Arrived arrived = who_has_arrived(warp, instruction, slot, members);
  const u32 ready = lanes_where(arrived.here, [&](u32 lane) { return arrived.complete(warp, lane); });
  if (const u32 early = warp.mask & ~ready; early != 0) {
    const u32 executing = warp.mask;
    warp.mask = early;
    Fragment& parked = park(warp, instruction, Wait::sync, index_of(warp, instruction));
    for (const u32 lane : set_bits(early)) parked.members |= members[lane];
    warp.mask = executing & ready;
  }
  if (ready == 0) {
    if (slot == kNoSlot) refuse_other_calls(warp, instruction, arrived.here);
    return false;
  }
  join_those_who_wait(warp, instruction, ready);
  warp.mask = ready;
  plan(warp);
  const u32 elsewhere = arrived.elsewhere_with(ready);
  if (warp.observer != nullptr) {
    warp.mask |= elsewhere;
    warp.observer->meet(warp, instruction, arrived.masks.data());
    warp.mask = ready;
  }
  if (elsewhere == 0) return true;
  exchange_apart(warp, instruction, elsewhere);
  return false;
}

void meet_in_warp(Warp& warp, const Instruction& instruction, Slot slot) {
  const u32* members = warp.in<u32>(slot);
  u32 all = 0;
  for (const u32 lane : set_bits(warp.mask)) all |= members[lane];
  if (warp.observer != nullptr) warp.observer->come(warp, instruction, members);
  if ((all & warp.live & ~warp.mask) == 0) {
    if (warp.observer != nullptr) warp.observer->met(warp, warp.mask);
    return;
  }
  park(warp, instruction, Wait::warp_sync, warp.pc).members = all;
  wake_met(warp);
}

void suspend(Warp& warp, bool impatient) {
  ++warp.turns;
  warp.yield = false;
  warp.polls = 0;
  if (impatient) release_all(warp);
  if (warp.lanes != 0) warp.fragments.push_back(current(warp));
  warp.lanes = 0;
  warp.stop = 0;
}

bool settle(Warp& warp) {
  for (;;) {
    if (warp.lanes == 0 && !pick(warp)) return false;
    if (warp.join != nullptr && warp.join->pc == warp.pc) {
      arrive(warp);
      continue;
    }
    if (!warp.fragments.empty()) {
      merge_equals(warp);
      let_lower_go_first(warp);
      if (warp.join != nullptr && warp.join->pc == warp.pc) continue;
      merge_equals(warp);
    }
    plan(warp);
    return true;
  }
}

void leave_frame(Warp& warp) {
  Frame* frame = warp.frame;
  Frame* caller = frame->caller;
  Join* join = frame->caller_join;
  const u32 pc = frame->return_pc, lanes = warp.lanes;
  for (Frame::Later& each : frame->later) {
    const u32 these = each.lanes & lanes;
    if (these == 0) continue;
    add(warp, pc, these, caller, each.caller_join);
    each.lanes &= ~these;
    warp.lanes &= ~these;
  }
  frame->lanes &= ~lanes;
  if (frame->lanes == 0) delete_frame(frame);
  enter(warp, caller, pc, join);
}

Frame* new_frame(const Code& code) {
  auto* frame = new Frame;
  frame->code = &code;
  frame->constants = code.constant_base;
  // At least something: a frame without registers has an address all the same.
  frame->registers = static_cast<std::byte*>(std::aligned_alloc(64, (code.frame_bytes + 127u) / 64 * 64));
  if (frame->registers == nullptr) {
    delete frame;
    throw std::bad_alloc();
  }
  return frame;
}

void delete_frame(Frame* frame) {
  std::free(frame->registers);
  delete frame;
}

void clear_fragments(Warp& warp) {
  std::vector<Frame*> frames;
  const auto collect = [&](Frame* frame) {
    for (; frame != nullptr && frame != &warp.root; frame = frame->caller) frames.push_back(frame);
  };
  if (warp.lanes != 0) collect(warp.frame);
  for (const Fragment& f : warp.fragments) collect(f.frame);
  for (const Join* join : warp.joins) collect(join->frame);
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  for (Frame* frame : frames) delete_frame(frame);
  for (Join* join : warp.joins) delete join;
  warp.joins.clear();
  warp.fragments.clear();
  warp.lanes = warp.live = 0;
}

}  // namespace cudasim
