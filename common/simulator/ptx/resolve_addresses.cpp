// Addresses that an array and an index make: mul.wide.s32 %w, %i, 4; add.s64 %a, %array, %w; ld.f32 %f, [%a]. If the
// array is a constant of the launch, the load or store takes both as they are: an index tells in 32 bits a lane how the
// addresses lie, and what only worked them out need not run.
#include "common/simulator/ptx/resolver.hpp"

namespace cudasim::ptx {

// Not if notes are kept: every statement is then to run. See is_known_before().
bool Resolver::is_launch_constant(Slot reg) const {
  return std::any_of(of_launch_.begin(), of_launch_.end(), [&](const auto& each) { return each.first == reg; });
}

// Notes what an instruction, the last one that was emitted, has put into a register, if that is such an address or the
// way to one.
void Resolver::note_address(const Draft& draft) {
  if (!function_.is_entry || notes_ != nullptr || !draft.statement->guard.empty()) return;
  const u32 at = static_cast<u32>(out_.code->instructions.size() - 1);
  const std::vector<Slot>& slot = draft.slots;
  IndexedAddress result;
  if (row_is(kWideProduct) && bytes(draft.form.type[0]) == 4) {
    const Immediate* factor = std::get_if<Immediate>(&draft.statement->operands[2].value);
    const auto scale = factor == nullptr ? std::nullopt : convert_immediate(*factor, draft.form.type[0]);
    if (!scale || *scale == 0 || *scale > kMaxScale || (slot[1] & kConstant) != 0) return;
    if (slot.size() > 3) {
      if (!is_launch_constant(slot[3])) return;
      result.base = slot[3];
    }
    result.index = slot[1];
    result.scale = static_cast<u32>(*scale);
    result.is_signed = is_signed(draft.form.type[0]);
    result.since = at;
  } else if (row_is(kSum) && bytes(draft.form.type[0]) == 8) {
    const u32 product = is_launch_constant(slot[1]) ? 2 : 1, base = 3 - product;
    const IndexedAddress* found = address_in(slot[product]);
    if (found == nullptr || found->base != kNoSlot || !is_launch_constant(slot[base])) return;
    result = *found;
    result.base = slot[base];
  } else {
    return;
  }
  result.at = at;
  addresses_[slot[0]] = result;
  producers_.push_back({at, {slot.begin(), slot.end()}});
}

// What is in a register, if it is still what was noted: nothing jumps to between there and here, and neither it nor the
// index has been written since.
const Resolver::IndexedAddress* Resolver::address_in(Slot reg) const {
  const auto found = addresses_.find(reg);
  if (found == addresses_.end()) return nullptr;
  const IndexedAddress& it = found->second;
  return it.since >= straight_since_ && written(it.index) <= it.since && written(reg) == it.at + 1 ? &it : nullptr;
}

// 1 + the last instruction that wrote the register; 0: none has.
u32 Resolver::written(Slot reg) const { return reg < written_.size() ? written_[reg] : 0; }

// The base register for a memory operand that is based on `reg`: the array, if the row takes the index as well.
Slot Resolver::take_index(Draft& draft, Slot reg) {
  const Space space = draft.form.space;
  const bool global = space == Space::generic || space == Space::global || space == Space::constant;
  const IndexedAddress* found = global && row_is(kTakesIndex) ? address_in(reg) : nullptr;
  if (found == nullptr || found->base == kNoSlot) return reg;
  draft.index_register = found->index;
  draft.form.scale = found->scale;
  draft.form.index_signed = found->is_signed;
  return found->base;
}

// Deletes the instructions whose only results are addresses that are not read any more.
void Resolver::leave_out_unread() {
  if (producers_.empty()) return;
  std::vector<u32> reads(registers_.size(), 0);
  for (const Mention& mention : mentions_) reads[mention.reg] += mention.read;
  Code& code = *out_.code;
  std::vector<bool> unread(code.instructions.size(), false);
  for (auto each = producers_.rbegin(); each != producers_.rend(); ++each) {
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
    steps_[count++] = steps_[i];
  }
  code.instructions.resize(count);
  steps_.resize(count);
  std::erase_if(mentions_, [&](const Mention& mention) { return unread[mention.instruction]; });
  for (Mention& mention : mentions_) mention.instruction = now[mention.instruction];
  for (OffsetFixup& fixup : out_.fixups) fixup.instruction = now[fixup.instruction];
  for (u32& first : first_) first = now[first];
}

}  // namespace cudasim::ptx
