// Functions that read the sums of wgmma without waiting for them. PTX ISA, "wgmma.mma_async": until the wait for its
// group, no other instruction may access its registers.
//
// The sums of a correct function can be computed at once, and compilers copy registers that are in flight from one
// virtual register to another, which means nothing to a GPU. So only a function that really reads them too early has
// its sums deferred to the wait. Then it reads what was in the registers before, every time.
#pragma once
#include "common/simulator/ptx/flow.hpp"

#include <vector>

namespace cudasim::ptx {

struct Body;
struct Draft;

struct Unfinished {
  enum Kind : u8 { other, multiply, commit, wait, move };
  struct Step {
    u32 instruction = 0;
    Kind kind = other;
    u32 left = 0;  // groups that a wait leaves unfinished
  };
  std::vector<Step> steps;
};

// After a statement has become the instruction `at`.
void note_unfinished(Draft& draft, u32 at);
// When all instructions stand, and registers have no slots yet.
void defer_unfinished(Body& body, const Flow& flow);

}  // namespace cudasim::ptx
