// Addresses that an array and an index make: mul.wide.s32 %w, %i, 4; add.s64 %a, %array, %w; ld.f32 %f, [%a]. If the
// array is a constant of the launch, the load or store takes both as they are: an index tells in 32 bits a lane how the
// addresses lie, and what only worked them out need not run.
#include "common/simulator/ptx/draft.hpp"

namespace cudasim::ptx {

static const IndexedAddress* address_in(const Body& body, Slot reg);
static u32 written(const Body& body, Slot reg);

// Not if notes are kept: every statement is then to run. See is_known_before().
static bool is_launch_constant(const Body& body, Slot reg) {
  return std::any_of(body.moves.of_launch.begin(), body.moves.of_launch.end(),
                     [&](const auto& each) { return each.first == reg; });
}

// Notes what an instruction, the last one that was emitted, has put into a register, if that is such an address or the
// way to one.
void note_address(const Draft& draft) {
  if (!draft.body.function.is_entry || draft.body.notes.notes != nullptr || !draft.statement->guard.empty()) return;
  const u32 at = static_cast<u32>(draft.body.out.code->instructions.size() - 1);
  const std::vector<Slot>& slot = draft.slots;
  IndexedAddress result;
  if (row_is(draft, kWideProduct) && bytes(draft.form.type[0]) == 4) {
    const Immediate* factor = std::get_if<Immediate>(&draft.statement->operands[2].value);
    const auto scale = factor == nullptr ? std::nullopt : convert_immediate(*factor, draft.form.type[0]);
    if (!scale || *scale == 0 || *scale > kMaxScale || (slot[1] & kConstant) != 0) return;
    if (slot.size() > 3) {
      if (!is_launch_constant(draft.body, slot[3])) return;
      result.base = slot[3];
    }
    result.index = slot[1];
    result.scale = static_cast<u32>(*scale);
    result.is_signed = is_signed(draft.form.type[0]);
    result.since = at;
  } else if (row_is(draft, kSum) && bytes(draft.form.type[0]) == 8) {
    const u32 product = is_launch_constant(draft.body, slot[1]) ? 2 : 1, base = 3 - product;
    const IndexedAddress* found = address_in(draft.body, slot[product]);
    if (found == nullptr || found->base != kNoSlot || !is_launch_constant(draft.body, slot[base])) return;
    result = *found;
    result.base = slot[base];
  } else {
    return;
  }
  result.at = at;
  draft.body.indices.addresses[slot[0]] = result;
  draft.body.indices.producers.push_back({at, {slot.begin(), slot.end()}});
}

// What is in a register, if it is still what was noted: nothing jumps to between there and here, and neither it nor the
// index has been written since.
static const IndexedAddress* address_in(const Body& body, Slot reg) {
  const auto found = body.indices.addresses.find(reg);
  if (found == body.indices.addresses.end()) return nullptr;
  const IndexedAddress& it = found->second;
  return it.since >= body.indices.straight_since && written(body, it.index) <= it.since &&
                 written(body, reg) == it.at + 1
             ? &it
             : nullptr;
}

// 1 + the last instruction that wrote the register; 0: none has.
static u32 written(const Body& body, Slot reg) {
  return reg < body.indices.written.size() ? body.indices.written[reg] : 0;
}

// The base register for a memory operand that is based on `reg`: the array, if the row takes the index as well.
Slot take_index(Draft& draft, Slot reg) {
  const Space space = draft.form.space;
  const bool global = space == Space::generic || space == Space::global || space == Space::constant;
  const IndexedAddress* found = global && row_is(draft, kTakesIndex) ? address_in(draft.body, reg) : nullptr;
  if (found == nullptr || found->base == kNoSlot) return reg;
  draft.index_register = found->index;
  draft.form.scale = found->scale;
  draft.form.index_signed = found->is_signed;
  return found->base;
}

// Deletes the instructions whose only results are addresses that are not read any more.
void leave_out_unread(Body& body) {
  if (body.indices.producers.empty()) return;
  std::vector<u32> reads(body.registers.size(), 0);
  for (const Mention& mention : body.mentions) reads[mention.reg] += mention.read;
  Code& code = *body.out.code;
  std::vector<bool> unread(code.instructions.size(), false);
  for (auto each = body.indices.producers.rbegin(); each != body.indices.producers.rend(); ++each) {
    if (reads[each->slots[0]] != 0) continue;
    unread[each->at] = true;
    for (std::size_t i = 1; i < each->slots.size(); ++i) {
      if ((each->slots[i] & kConstant) == 0) --reads[each->slots[i]];
    }
  }
  std::vector<u32> now;  // index of each instruction, or of the next that stays
  u32 count = 0;
  for (u32 i = 0; i < unread.size(); ++i) {
    now.push_back(count);
    if (unread[i]) continue;
    code.instructions[count] = code.instructions[i];
    body.steps[count++] = body.steps[i];
  }
  code.instructions.resize(count);
  body.steps.resize(count);
  std::erase_if(body.mentions, [&](const Mention& mention) { return unread[mention.instruction]; });
  for (Mention& mention : body.mentions) mention.instruction = now[mention.instruction];
  for (OffsetFixup& fixup : body.out.fixups) fixup.instruction = now[fixup.instruction];
  for (u32& first : body.first) first = now[first];
}

}  // namespace cudasim::ptx
