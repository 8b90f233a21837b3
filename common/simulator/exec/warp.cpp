// The loop that runs a warp's instructions.
#include "common/simulator/exec/warp.hpp"

#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/compiled.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/report.hpp"

namespace cudasim {
namespace {

// So many times a fragment uses up its turn until lanes that wait for it at a join go on without it.
constexpr u32 kPatience = 8;

// The lanes of the running fragment that execute `instruction`.
inline u32 guarded(const Warp& warp, const Instruction& instruction) {
  const Slot guard = instruction.guard;
  if (__builtin_expect(guard == kNoSlot, 1)) return warp.lanes;
  const u32 predicate = warp.predicate(guard & ~3u);
  return warp.lanes & ((guard & 1) != 0 ? ~predicate : predicate);
}

// Until settle() has something to do, or `left` is used up.
inline void run_straight(Warp& warp, i64& left) {
  do {
    const Instruction& instruction = warp.code[warp.pc++];
    const u32 mask = guarded(warp, instruction);
    --left;
    if (mask != 0) {
      warp.mask = mask;
      instruction.run(warp, instruction);
    }
  } while (warp.pc < warp.stop && left > 0);
}

// The compiled form of the called function that the warp is in. Null: it is interpreted.
const Compiled* compiled_function(const Warp& warp) {
  const u32 shape = warp.block->grid->compiled_shape.load(std::memory_order_relaxed);
  return warp.frame->code->compiled[shape].load(std::memory_order_acquire);
}

// Compiled code, and the interpreter where that leaves off: until the next block of instructions that is compiled.
void run_compiled(Warp& warp, const Compiled& compiled, i64& left) {
  const Frame* const frame = warp.frame;
  if (compiled.begins[warp.pc]) {
    const Block& block = *warp.block;
    const SharedRange shared{block.shared, block.shared_begin, block.quick_shared_bytes};
    const LocalRange local = local_range(warp);
    const bool all = warp.lanes == kAllLanes && alone(warp);
    Left how = all ? compiled.together(warp, left, shared, local, true) : Left::elsewhere;
    if (how == Left::elsewhere) {
      warp.tidy = kNoTarget;
      how = compiled.apart(warp, left, shared, local, alone(warp));
    }
    if (how == Left::settled || warp.pc >= warp.stop || left <= 0) return;
  }
  warp.tidy = kNoTarget;
  do {
    i64 one = 1;
    run_straight(warp, one);
    --left;
  } while (warp.pc < warp.stop && left > 0 && !compiled.begins[warp.pc] && warp.frame == frame);
}

// The same with an observer, which is told each instruction.
[[gnu::noinline]] void run_watched(Warp& warp, i64& left) {
  do {
    const Code& code = *warp.frame->code;
    const Instruction& instruction = warp.code[warp.pc++];
    const u32 mask = guarded(warp, instruction);
    --left;
    warp.observer->begins(warp, code, instruction, mask);
    if (mask != 0) {
      warp.mask = mask;
      instruction.run(warp, instruction);
    }
    warp.observer->executed(warp, code, instruction, mask);
  } while (warp.pc < warp.stop && left > 0);
}

}  // namespace

Pause run_warp(Warp& warp, i64& budget) {
  i64 left = budget;
  try {
    for (;;) {
      if (warp.pc >= warp.stop || warp.lanes == 0) {
        if (warp.held != 0) {
          budget = left;
          return Pause::blocked;
        }
        if (warp.yield && warp.lanes != 0) {
          suspend(warp, true);
          budget = left;
          return Pause::yielded;
        }
        if (warp.live == 0 || !settle(warp)) {
          budget = left;
          return warp.live == 0 ? Pause::ended : Pause::blocked;
        }
      }
      if (left <= 0) {
        suspend(warp, warp.turns % kPatience == kPatience - 1);
        budget = left;
        return Pause::expired;
      }
      const Compiled* compiled = warp.block->grid->compiled.load(std::memory_order_acquire);
      if (compiled != nullptr && warp.frame != &warp.root) compiled = compiled_function(warp);
      if (compiled != nullptr)
        run_compiled(warp, *compiled, left);
      else if (warp.tidy = kNoTarget; warp.observer == nullptr || !warp.observer->wants_accesses())
        run_straight(warp, left);
      else
        run_watched(warp, left);
    }
  } catch (Fault& fault) {
    locate(fault, warp);
    if (warp.observer != nullptr) warp.observer->failed(warp, fault);
    throw;
  }
}

}  // namespace cudasim
