// Finds the shared variable from which an address is computed, for CUDASIM_CHECK=memory: an index beyond the variable
// is then a finding even if it is still within the block's shared memory. A register comes from a variable if
// everything that is ever written to it does: the variable's address, copies of it, and sums with numbers. All other
// registers have no known origin.
#include "common/simulator/ptx/resolver.hpp"

namespace cudasim::ptx {
namespace {

constexpr u32 kUnseen = ~0u, kNumber = ~0u - 1, kMixed = ~0u - 2;  // else an index of Link::variables

u32 joined(u32 a, u32 b) {
  if (a == kUnseen || a == b) return b;
  return b == kUnseen ? a : kMixed;
}

// What the sum of two is made of.
u32 added(u32 a, u32 b) {
  if (a == kUnseen || b == kUnseen) return kUnseen;
  if (a == kNumber) return b;
  return b == kNumber ? a : kMixed;
}

}  // namespace

// Whatever writes to a register; by_row() knows better of some.
void Resolver::note_write(Slot slot) {
  if (checks().memory) definitions_.push_back({Definition::unknown, slot, 0, {}});
}

void Resolver::note_made_of(Slot slot, u32 variable) {
  if (checks().memory) definitions_.back() = {Definition::of_variable, slot, variable, {}};
}

void Resolver::note_sum(Slot slot, Slot one, Slot other) {
  if (checks().memory) definitions_.back() = {Definition::sum, slot, 0, {one, other}};
}

void Resolver::note_origin(const Draft& draft) {
  if (!checks().memory) return;
  const u32 statement = static_cast<u32>(out_.code->statements.size() - 1);
  if (draft.offset_of.kind == AddressOf::shared) {
    std::vector<u32>& known = out_.code->shared_variable_of;
    known.resize(statement + 1);
    known[statement] = 1 + draft.offset_of.index;
  } else if (draft.base != kNoSlot) {
    accesses_.emplace_back(statement, draft.base);
  }
  const std::string& opcode = current_->opcode;
  const bool copies = opcode == "mov" || opcode == "cvta" || opcode == "cvt";
  const bool adds = opcode == "add" || opcode == "mad" || opcode == "or" || opcode == "sub";
  if ((!copies && !adds) || draft.slots.empty() || !draft.written[0]) return;
  Definition& definition = definitions_.back();
  if (definition.reg != draft.slots[0] || definition.kind != Definition::unknown) return;
  definition.from.assign(draft.slots.begin() + 1, draft.slots.end());
  // The difference of two addresses is a number, but a number less an address is nothing.
  definition.kind = copies ? Definition::copy : Definition::sum;
}

void Resolver::find_origins() {
  if (!checks().memory) return;
  std::vector<u32> made_of(registers_.size(), kUnseen);
  for (const auto& [id, index] : indices_) made_of[id] = kNumber;
  for (const auto& [id, constant] : of_launch_) made_of[id] = kNumber;
  const auto of = [&](Slot slot) { return slot == kNoSlot || (slot & kConstant) != 0 ? kNumber : made_of[slot]; };
  // What an unknown instruction writes is a number, unless the register is an address elsewhere.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Definition& each : definitions_) {
      u32 value = kNumber;
      if (each.kind == Definition::of_variable) value = each.variable;
      if (each.kind == Definition::copy || each.kind == Definition::sum) {
        value = of(each.from[0]);
        for (std::size_t i = 1; i < each.from.size(); ++i) value = added(value, of(each.from[i]));
      }
      const u32 now = joined(made_of[each.reg], value);
      changed |= now != made_of[each.reg];
      made_of[each.reg] = now;
    }
  }
  std::vector<u32>& known = out_.code->shared_variable_of;
  known.resize(out_.code->statements.size());
  for (const auto& [statement, base] : accesses_) {
    const u32 variable = of(base);
    if (variable < link_.variables.size()) known[statement] = 1 + variable;
  }
}

}  // namespace cudasim::ptx
