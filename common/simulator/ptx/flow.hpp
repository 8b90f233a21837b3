// What follows what in a function: where diverged lanes meet again, and which registers are needed where.
#pragma once
#include "common/simulator/types.hpp"

#include <vector>

namespace cudasim::ptx {

// How control leaves one instruction.
struct Step {
  bool falls_through = true;  // to the next instruction
  bool ends = false;          // the thread is at its end here: exit, trap
  u32 target = ~0u;           // of a bra
  u32 table = ~0u;            // of a brx.idx
};

struct Flow {
  std::vector<Step> steps;  // one for each instruction; the last is the function's ret
  std::vector<std::vector<u32>> tables;
  bool is_entry = false;  // ret ends the thread
};

// For each instruction that may send lanes to different places: the index where they meet again; else ~0.
std::vector<u32> reconvergence(const Flow& flow);

// One mention of a virtual register.
struct Mention {
  u32 instruction = 0, reg = 0;
  bool written = false;  // by an instruction without a guard: what was in it before is gone; reads come first
  bool read = true;      // else it is only written
  bool address = false;  // read as an address of memory
};

// From the first to the last instruction at which a register must keep its value (first > last: never mentioned).
// Mentions are in the order of the instructions.
struct Interval {
  u32 first = ~0u, last = 0;
};
std::vector<Interval> intervals(const Flow& flow, const std::vector<Mention>& mentions, u32 registers);

}  // namespace cudasim::ptx
