// Finds the shared variable from which an address is computed, for CUDASIM_CHECK=memory: an index beyond the variable
// is then a finding even if it is still within the block's shared memory. A register comes from a variable if
// everything that is ever written to it does: the variable's address, copies of it, and sums with numbers. All other
// registers have no known origin.
#include "common/simulator/ptx/draft.hpp"
#include "common/simulator/wanted.hpp"

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
void note_write(Body& body, Slot slot) {
  if (checks().memory) body.origins.definitions.push_back({Definition::unknown, slot, 0, {}});
}

void note_made_of(Body& body, Slot slot, u32 variable) {
  if (checks().memory) body.origins.definitions.back() = {Definition::of_variable, slot, variable, {}};
}

void note_sum(Body& body, Slot slot, Slot one, Slot other) {
  if (checks().memory) body.origins.definitions.back() = {Definition::sum, slot, 0, {one, other}};
}

void note_origin(const Draft& draft) {
  if (!checks().memory) return;
  const u32 statement = static_cast<u32>(draft.body.out.code->statements.size() - 1);
  if (draft.offset_of.kind == AddressOf::shared) {
    std::vector<u32>& known = draft.body.out.code->shared_variable_of;
    known.resize(statement + 1);
    known[statement] = 1 + draft.offset_of.index;
  } else if (draft.base != kNoSlot) {
    draft.body.origins.accesses.emplace_back(statement, draft.base);
  }
  const std::string& opcode = draft.source->opcode;
  const bool copies = opcode == "mov" || opcode == "cvta" || opcode == "cvt";
  const bool adds = opcode == "add" || opcode == "mad" || opcode == "or" || opcode == "sub";
  if ((!copies && !adds) || draft.slots.empty() || !draft.written[0]) return;
  Definition& definition = draft.body.origins.definitions.back();
  if (definition.reg != draft.slots[0] || definition.kind != Definition::unknown) return;
  definition.from.assign(draft.slots.begin() + 1, draft.slots.end());
  // The difference of two addresses is a number, but a number less an address is nothing.
  definition.kind = copies ? Definition::copy : Definition::sum;
}

void find_origins(Body& body) {
  if (!checks().memory) return;
  std::vector<u32> made_of(body.registers.size(), kUnseen);
  for (const auto& [id, index] : body.moves.of_block) made_of[id] = kNumber;
  for (const auto& [id, constant] : body.moves.of_launch) made_of[id] = kNumber;
  const auto of = [&](Slot slot) { return slot == kNoSlot || (slot & kConstant) != 0 ? kNumber : made_of[slot]; };
  // What an unknown instruction writes is a number, unless the register is an address elsewhere.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Definition& each : body.origins.definitions) {
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
  std::vector<u32>& known = body.out.code->shared_variable_of;
  known.resize(body.out.code->statements.size());
  for (const auto& [statement, base] : body.origins.accesses) {
    const u32 variable = of(base);
    if (variable < body.link.variables.size()) known[statement] = 1 + variable;
  }
}

}  // namespace cudasim::ptx
