// Blocks, registers that are read later, and registers with one value for all lanes.
//
// The last is a question about lanes that execute together, so it needs no theory of divergence: compiled code runs a
// block with all 32 lanes, or leaves it to the code for lanes that have diverged. Where the first begins in the middle
// of a function, it looks at the registers' values first.
#include "common/simulator/compile/flow.hpp"

#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/isa/memory.hpp"

#include <algorithm>
#include <cstring>

namespace cudasim::compile {

Shape shape_of(const Dim3& block) {
  if (block.x % kWarpSize == 0 || block.y * block.z == 1) return {1, true};
  if (block.x == 16) return {2, true};
  if (block.x == 8) return {4, true};
  return {1, false};
}

// Larger numbers may be addresses, which are others in the next process.
std::optional<u64> number(const Code& code, Slot slot, u32 bytes) {
  if (slot == kNoSlot || (slot & kConstant) == 0) return {};
  const u32 at = slot & ~kConstant;
  for (const Code::OfLaunch& each : code.of_launch) {
    if (at >= each.at && at < each.at + kWarpSize * each.bytes) return {};
  }
  u64 value = 0;
  std::memcpy(&value, code.constant_base + at, bytes);
  const bool small = bytes <= 4 || value < u64{1} << 32 || value >= ~u64{0} << 31;
  return small ? std::optional(value) : std::nullopt;
}

Flow::Flow(const Code& code, const Shape& shape, bool together) : code_(code), shape_(shape), together_(together) {
  const std::size_t count = code.instructions.size();
  for (const Instruction& each : code.instructions) operations_.push_back(operation_of(each));
  reads_.resize(count), writes_.resize(count);
  for (const Code::Use& use : code.uses) {
    if ((use.slot & kConstant) != 0 || use.instruction >= count) continue;
    // What the beginning of a block writes, no instruction does.
    if (use.written && std::any_of(code.indices.begin(), code.indices.end(),
                                   [&](const Code::Index& index) { return index.slot == use.slot; }))
      continue;
    auto& slots = (use.written ? writes_ : reads_)[use.instruction];
    if (std::find(slots.begin(), slots.end(), use.slot) == slots.end()) slots.push_back(use.slot);
  }
  find_blocks();
  find_predicates();
  find_live();
  find_kinds();
}

void Flow::find_blocks() {
  const u32 count = static_cast<u32>(code_.instructions.size());
  std::set<u32> begins{0};
  for (const u32 meet : code_.reconverge) {
    if (meet < count) begins.insert(meet);
  }
  for (const auto& table : code_.tables) begins.insert(table.begin(), table.end());
  for (u32 i = 0; i < count; ++i) {
    const Operation::Kind kind = operations_[i].kind;
    if (kind == Operation::branch) begins.insert(code_.instructions[i].target);
    if (kind == Operation::branch || kind == Operation::leave || kind == Operation::other) begins.insert(i + 1);
  }
  begins.erase(count);
  for (auto at = begins.begin(); at != begins.end(); ++at) {
    Block block;
    block.begin = *at;
    block.end = std::next(at) == begins.end() ? count : *std::next(at);
    const u32 last = block.end - 1;
    const Operation::Kind kind = operations_[last].kind;
    if (kind == Operation::branch) block.next.push_back(code_.instructions[last].target);
    const bool always = kind == Operation::branch && code_.instructions[last].guard == kNoSlot;
    if (!always && kind != Operation::leave && block.end < count) block.next.push_back(block.end);
    if (code_.instructions[last].run == run_branch_indexed) {
      const auto& table = code_.tables[code_.instructions[last].target];
      block.next.insert(block.next.end(), table.begin(), table.end());
    }
    blocks_[block.begin] = block;
  }
}

void Flow::find_predicates() {
  for (u32 i = 0; i < operations_.size(); ++i) {
    const Instruction& instruction = code_.instructions[i];
    const auto note = [&](Slot slot) {
      if (slot != kNoSlot && (slot & kConstant) == 0) predicates_.insert(slot);
    };
    if (instruction.guard != kNoSlot) note(instruction.guard & ~3u);
    switch (operations_[i].kind) {
      case Operation::compares: note(instruction.slot[0]), note(instruction.slot[1]), note(instruction.slot[4]); break;
      case Operation::selects: note(instruction.slot[3]); break;
      case Operation::combines:
        for (u32 k = 0; k < 3; ++k) note(instruction.slot[k]);
        break;
      default: break;
    }
  }
}

void Flow::find_live() {
  live_.resize(operations_.size() + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      std::set<Slot> live;
      for (const u32 next : block->second.next) live.insert(live_[next].begin(), live_[next].end());
      // Behind an instruction that may go elsewhere, what comes there is not known here.
      for (u32 i = block->second.end; i-- > block->second.begin;) {
        if (code_.instructions[i].guard == kNoSlot) {
          for (const Slot slot : writes_[i]) live.erase(slot);
        }
        live.insert(reads_[i].begin(), reads_[i].end());
        if (code_.instructions[i].guard != kNoSlot) live.insert(code_.instructions[i].guard & ~3u);
        if (live != live_[i]) live_[i] = live, changed = true;
      }
    }
  }
}

Kind Flow::kind(Slot slot, const std::map<Slot, Kind>& kinds) const {
  if (!together_) return kAny;
  if (slot == kNoSlot || (slot & kConstant) != 0) return kSame;
  const auto found = kinds.find(slot);
  return found == kinds.end() ? kAny : found->second;
}

Kind Flow::computed(u32 i, const std::map<Slot, Kind>& kinds) const {
  const Operation& operation = operations_[i];
  const Instruction& instruction = code_.instructions[i];
  Kind k[4];  // bfi has so many operands
  std::optional<u64> n[4];
  bool same = true;
  const std::size_t operands = operation.types.size() - 1;
  for (u32 a = 0; a < operands; ++a) {
    k[a] = kind(instruction.slot[1 + a], kinds);
    n[a] = number(code_, instruction.slot[1 + a], size_of(operation.types[1 + a]));
    same &= k[a].same();
  }
  if (same) return kSame;
  const bool rows = k[0].in_rows && k[1].in_rows && (operands < 3 || k[2].in_rows);
  const u32 size = size_of(operation.types[0]);
  const bool negates = operation.op == "logic::Not" || operation.op == "integers::Neg";
  if (negates) return size >= 4 && k[0].in_rows ? Kind{true, -k[0].stride} : kAny;
  if (operation.op == "conversions::Copy") return size >= 4 ? k[0] : kAny;
  if (size < 4 || operation.types[0] == "float" || operation.types[0] == "double" || !rows) return kAny;
  const auto product = [&]() -> std::optional<i64> {
    constexpr u64 kMost = 1 << 20;
    if (n[1] && *n[1] < kMost) return k[0].stride * static_cast<i64>(*n[1]);
    if (n[0] && *n[0] < kMost) return k[1].stride * static_cast<i64>(*n[0]);
    return {};
  };
  const std::string& op = operation.op;
  if (op == "integers::Add") return {true, k[0].stride + k[1].stride};
  if (op == "integers::Sub") return {true, k[0].stride - k[1].stride};
  if (op == "logic::Shl" && n[1] && *n[1] < 20) return {true, k[0].stride << *n[1]};
  if (op == "integers::MulLo" || op == "integers::MulWide") {
    if (const auto stride = product()) return {true, *stride};
  }
  if (op == "integers::MadLo" || op == "integers::MadWide") {
    if (k[0].same() && k[1].same()) return k[2];
    if (const auto stride = product()) return {true, *stride + k[2].stride};
  }
  return kAny;
}

std::optional<i64> Flow::address_stride(u32 i, const std::map<Slot, Kind>& kinds) const {
  const Operation& operation = operations_[i];
  const Instruction& instruction = code_.instructions[i];
  if (!together_ || instruction.guard != kNoSlot || operation.place == Operation::local) return {};
  const Slot base = instruction.slot[operation.kind == Operation::loads ? operation.elements : 0];
  const Kind at = kind(base, kinds);
  if (!at.in_rows) return {};
  i64 stride = at.stride;
  if (operation.place == Operation::indexed) {
    const Kind index = kind(instruction.slot[operation.elements + 1], kinds);
    if (!at.same() || !index.in_rows) return {};
    stride = index.stride * static_cast<i64>(instruction.control >> kScaleShift & kMaxScale);
  }
  const i64 bytes = size_of(operation.types[0]) * operation.elements;
  return stride % bytes == 0 ? std::optional(stride) : std::nullopt;
}

Kind Flow::loaded(u32 i, const std::map<Slot, Kind>& kinds) const {
  const auto stride = address_stride(i, kinds);
  return stride && *stride == 0 ? kSame : kAny;
}

Kind Flow::special(const Operation& operation) const {
  if (size_of(operation.types[0]) < 4) return kAny;
  if (operation.kind == Operation::reads_same) return kSame;
  if (operation.kind == Operation::reads_lane) return shape_.rows == 1 ? Kind{true, 1} : kAny;
  if (!shape_.even) return kAny;
  return {true, operation.elements == 0 ? 1 : 0};
}

Kind Flow::result(u32 i, const std::map<Slot, Kind>& kinds) const {
  const Operation& operation = operations_[i];
  const Instruction& instruction = code_.instructions[i];
  if (!together_ || instruction.guard != kNoSlot) return kAny;
  const auto same = [&](u32 first, u32 last) {
    for (u32 k = first; k <= last; ++k) {
      if (!kind(instruction.slot[k], kinds).same()) return kAny;
    }
    return kSame;
  };
  switch (operation.kind) {
    case Operation::computes: return computed(i, kinds);
    case Operation::compares: return same(2, 4);
    case Operation::selects: return same(1, 3);
    case Operation::combines: return same(1, 2);
    case Operation::extends: {
      const Kind from = kind(instruction.slot[1], kinds);
      const u32 to_bits = bits(Type(instruction.control & 63)), from_bits = bits(Type(instruction.control >> 6 & 63));
      const bool whole = from_bits == 8 * size_of(operation.types[0]) && to_bits == 8 * size_of(operation.types[2]);
      return from.same() || (whole && from_bits >= 32 && to_bits >= 32) ? from : kAny;
    }
    case Operation::adds_window: return kind(instruction.slot[1], kinds);
    case Operation::adds_offset:
      return size_of(operation.types[0]) >= 4 ? kind(instruction.slot[1], kinds) : same(1, 1);
    case Operation::shared_address: return kSame;
    case Operation::loads: return loaded(i, kinds);
    case Operation::reads_same:
    case Operation::reads_thread:
    case Operation::reads_lane: return special(operation);
    default: return kAny;
  }
}

bool Flow::uses_handler(u32 i, const std::map<Slot, Kind>& kinds) const {
  const Operation& operation = operations_[i];
  switch (operation.kind) {
    case Operation::other:
    case Operation::leave:
    case Operation::reads_same:
    case Operation::reads_thread:
    case Operation::reads_lane:
    case Operation::plain: return true;
    case Operation::computes: return !operation.vectorizes && !result(i, kinds).in_rows;
    default: return false;
  }
}

void Flow::advance(u32 i, std::map<Slot, Kind>& kinds) const {
  const bool reads = operations_[i].kind >= Operation::reads_same && operations_[i].kind <= Operation::reads_lane;
  const Kind kind = uses_handler(i, kinds) && !reads ? kAny : result(i, kinds);
  for (const Slot slot : writes_[i]) {
    if (kind == kAny)
      kinds.erase(slot);
    else
      kinds[slot] = kind;
  }
}

// The registers' kinds at the beginning of each block: what all blocks before it agree upon.
void Flow::find_kinds() {
  if (!together_) return;
  Block& entry = blocks_[0];
  entry.reached = true;
  for (const Code::Index& each : code_.indices) {
    const bool x = each.kind == Code::Index::thread && each.axis == 0;
    if (each.kind == Code::Index::block || shape_.even) entry.kinds[each.slot] = {true, x ? 1 : 0};
  }
  std::set<u32> work{0};
  while (!work.empty()) {
    const Block& block = blocks_[*work.begin()];
    work.erase(work.begin());
    std::map<Slot, Kind> kinds = block.kinds;
    for (u32 i = block.begin; i < block.end; ++i) advance(i, kinds);
    for (const u32 at : block.next) {
      Block& next = blocks_[at];
      const auto before = next.kinds;
      if (!next.reached)
        next.kinds = kinds;
      else
        std::erase_if(next.kinds, [&](const auto& each) { return kind(each.first, kinds) != each.second; });
      if (!next.reached || next.kinds != before) work.insert(at);
      next.reached = true;
    }
  }
}

}  // namespace cudasim::compile
