#include "common/simulator/watch/sync.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"

#include <algorithm>

namespace cudasim {
namespace {

// What __syncthreads() is in a kernel.
constexpr u32 kWholeBlock = 0;

// Whether control gets from one instruction of a function to a later one without going back.
bool leads_to(const Code& code, u32 from, u32 to) {
  std::vector<bool> reached(code.instructions.size());
  reached[from] = true;
  for (u32 at = from; at < to; ++at) {
    if (!reached[at]) continue;
    const Instruction& instruction = code.instructions[at];
    const bool jumps = instruction.run == run_branch, may_pass = !jumps || instruction.guard != kNoSlot;
    if (jumps && instruction.target < reached.size()) reached[instruction.target] = true;
    if (instruction.run == run_branch_indexed) {
      for (const u32 target : code.tables[instruction.target]) reached[target] = true;
    } else if (may_pass) {
      reached[at + 1] = true;
    }
  }
  return reached[to];
}

// Whether two instructions are one in the source: compilers copy what is in a loop, and the copies follow each other.
bool same_place(const Site& a, const Site& b) {
  if (a == b) return true;
  const auto source = [](const Site& site) {
    const u32 statement = site.instruction->statement;
    return statement < site.code->statements.size() ? site.code->statements[statement].source : SourceLine();
  };
  const SourceLine one = source(a), other = source(b);
  if (a.code == b.code) {
    const auto index = [](const Site& site) {
      return static_cast<u32>(site.instruction - site.code->instructions.data());
    };
    const u32 first = std::min(index(a), index(b)), last = std::max(index(a), index(b));
    if (!leads_to(*a.code, first, last)) return false;
  }
  return one.file != 0 && one.file == other.file && one.line == other.line && one.column == other.column &&
         one.outer_file == other.outer_file && one.outer_line == other.outer_line;
}

}  // namespace

void BlockSync::start() {
  for (Phase& phase : phases_) phase = Phase();
}

void BlockSync::say(Warp& warp, u32 lane, const Site& at, const char* title, const std::string& why) {
  const Grid& grid = *block_.grid;
  const std::string place = where(grid.program, at);
  find(grid, title, "sync " + place + title,
       {{"at", place}, {"thread", thread_name(grid, block_.number, warp.index * kWarpSize + lane)}, {"why", why}});
}

// Lanes of a warp come to a barrier together, at one instruction; all who come to it mean the same number of threads.
void BlockSync::arrive(Warp& warp, const Site& at, u32 id, u32 count) {
  Phase& phase = phases_[id];
  const Grid& grid = *block_.grid;
  const u32 lane = first_lane(warp.mask);
  if (!phase.any) {
    phase.any = true;
    phase.at = at;
    phase.count = count;
    phase.warp = warp.index;
    phase.lane = lane;
    phase.by_warp.assign(block_.warps.size(), Site());
  } else if (phase.count != count) {
    const auto threads = [](u32 n) { return n == 0 ? std::string("all threads") : std::to_string(n) + " threads"; };
    say(warp, lane, at, "barrier with different counts",
        "it waits at barrier " + std::to_string(id) + " for " + threads(count) + ", and warp " +
            std::to_string(phase.warp) + " at " + where(grid.program, phase.at) + " for " + threads(phase.count));
  }
  if (id == kWholeBlock && count == 0 && phase.warp != warp.index && !same_place(phase.at, at)) {
    say(warp, lane, at, "barrier at two places",
        "warp " + std::to_string(phase.warp) + " waits for the same barrier at " + where(grid.program, phase.at) +
            ": the whole block must reach the same __syncthreads()");
  }
  Site& others = phase.by_warp[warp.index];
  if (others.instruction != nullptr && !(others == at)) {
    say(warp, lane, at, "barrier in divergent code",
        "other lanes of its warp have arrived at the same barrier at " + where(grid.program, others) +
            ": whole warps must reach a barrier, at one place");
  }
  others = at;
}

// Without a count a barrier is for all threads of the block. Those that have exited are not waited for, but they were
// meant to come.
void BlockSync::open(u32 id) {
  Phase& phase = phases_[id];
  const u32 threads = block_.grid->threads;
  if (phase.any && phase.count == 0 && block_.live_threads < threads) {
    const u32 gone = threads - block_.live_threads;
    say(block_.warps[phase.warp], phase.lane, phase.at, "barrier that part of the block never reaches",
        std::to_string(gone) + (gone == 1 ? " thread" : " threads") + " of the block's " + std::to_string(threads) +
            (gone == 1 ? " has" : " have") + " exited and will never arrive");
  }
  phase = Phase();
}

// PTX ISA: an executing lane is named by its own member mask, and all who are named, and have not exited, execute the
// same instruction with the same mask; else the behaviour is undefined.
void BlockSync::come(Warp& warp, const Site& at, const u32* masks) {
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 mask = masks[lane];
    if ((mask >> lane & 1) == 0) {
      return say(warp, lane, at, "lane missing from its own mask",
                 "lane " + std::to_string(lane) + " executes it with a mask of " + members("lane", mask));
    }
    for (u32 named = mask & warp.mask; named != 0; named &= named - 1) {
      const u32 other = first_lane(named);
      if (masks[other] == mask) continue;
      return say(warp, lane, at, "lanes with different masks",
                 "lane " + std::to_string(lane) + " passes " + members("lane", mask) + ", but lane " +
                     std::to_string(other) + ", which is in that mask, passes " + members("lane", masks[other]));
    }
  }
}

void BlockSync::meet(Warp& warp, const Site& at, const u32* masks) {
  come(warp, at, masks);
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 gone = masks[lane] & warp.present & ~warp.live;
    if (gone == 0) continue;
    return say(warp, lane, at, "mask with lanes that have exited",
               "the mask of lane " + std::to_string(lane) + " contains " + members("lane", gone) + ", which " +
                   (__builtin_popcount(gone) == 1 ? "has" : "have") + " exited and will never arrive");
  }
}

}  // namespace cudasim
