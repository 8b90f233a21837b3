// Exchanges between lanes: .sync instructions with a member mask (shfl, vote, match, redux, elect). The lanes of a mask
// execute the same operation with the same qualifiers, but not necessarily the same instruction of the program.
#pragma once
#include "common/simulator/exec/warp.hpp"

#include <initializer_list>

namespace cudasim {

// What the operands of such an instruction are, in the order of its slots. Instruction::control contains it, so that
// lanes at different instructions can exchange their values.
enum class Exchanged : u32 { none, word, doubleword, predicate, to_word, to_predicate };
constexpr u32 kExchangedBits = 3;
constexpr u32 exchange_of(std::initializer_list<Exchanged> operands) {
  u32 control = 0, at = 0;
  for (const Exchanged operand : operands) control |= static_cast<u32>(operand) << (kExchangedBits * at++);
  return control;
}
// Also in Instruction::control: warp.mask already contains all lanes of the exchange.
constexpr u32 kGathered = 1u << 31;

// Whether both are the same operation with the same qualifiers.
inline bool same_exchange(const Instruction& a, const Instruction& b) {
  return a.run == b.run && a.control == b.control;
}

// Each lane's member mask, from the slot that a fragment's instruction has for it.
inline const u32* masks_at(const Frame& frame, Slot slot) {
  const std::byte* base = (slot & kConstant) != 0 ? frame.constants : frame.registers;
  return reinterpret_cast<const u32*>(base + (slot & ~kConstant));
}

// Executes `instruction` for the lanes of warp.mask and for those of `elsewhere`, which wait for the same exchange at
// other instructions or in other calls. The fragments of the latter continue behind their instructions.
void exchange_apart(Warp& warp, const Instruction& instruction, u32 elsewhere);

}  // namespace cudasim
