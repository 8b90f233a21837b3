// What an instruction is, and what it sees of the warp that it runs in. Compiled kernels (compile/) know these types,
// too, so this file needs no other header.
#pragma once
#include "common/simulator/memory/view.hpp"
#include "common/simulator/words.hpp"

#include <cstddef>

namespace cudasim {

struct Warp;
struct Instruction;

// Runs one instruction for the lanes of warp.mask.
using Handler = void (*)(Warp& warp, const Instruction& instruction);

// Where an operand lives: a byte offset from the frame's registers, or, with kConstant set, from the function's
// constants. A value of n bytes takes 32 * n bytes, lane by lane, aligned to 64. A predicate takes 4 bytes: one bit a
// lane. While a function is translated (ptx/draft.hpp), a Slot without kConstant is the number of a virtual register.
using Slot = u32;
constexpr Slot kConstant = 0x8000'0000u;
constexpr Slot kNoSlot = 0x7fff'ffffu;
constexpr u32 kNoTarget = ~0u;

struct alignas(64) Instruction {
  Handler run = nullptr;
  Slot slot[6] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};  // the first six operands, vectors flattened
  const Slot* wide = nullptr;  // all operands, if there are more than six
  i64 offset = 0;  // of a memory operand, or an immediate that the row takes as such
  u32 target = kNoTarget;  // of an instruction (bra), in Code::calls (call), in Code::tables (brx); a special register
  Slot guard = kNoSlot;  // predicate; lowest bit set: negated
  u32 control = 0;  // what the row's bind function wants its handler to know (Bound::control)
  u32 statement = 0;  // index in Code::statements: where it came from
};

constexpr u32 kViews = 256;  // of a WarpState; a power of two

// The part of a warp that handlers and compiled kernels share.
struct WarpState {
  u32 mask = 0;  // lanes that execute the instruction: the fragment's lanes under the guard
  u32 pc = 0;  // of the next instruction; control flow sets it
  std::byte* base[2] = {};  // [0] the frame's registers, [1] the function's constants
  const Instruction* code = nullptr;
  View* views = nullptr;  // of global memory, kViews of them: each instruction has its place
  u32 lanes = 0;  // of the fragment that runs; 0: none does
  u32 stop = 0;  // at this pc and beyond, settle() looks whom the fragment has met. 0: look at once
  u32 tidy = kNoTarget;  // at this pc the registers are as compiled code has left them there
  u32 polls = 0;  // reads that may belong to a spin, since the warp last changed memory
};

inline View& view_of(const WarpState& warp, const Instruction& instruction) {
  return warp.views[reinterpret_cast<u64>(&instruction) / sizeof(Instruction) % kViews];
}

}  // namespace cudasim
