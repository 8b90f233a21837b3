// Writes the blocks of a function and what leads from one to the next: see README.md for an example.
#include "common/simulator/compile/write.hpp"

#include "common/simulator/compile/writer.hpp"

#include <algorithm>

namespace cudasim::compile {
namespace {

constexpr const char* kVectors = "CUDASIM_LANES { [[maybe_unused]] const u32 lane = row * kRow + place;";

std::string row_name(Slot slot) { return "s" + text(slot); }
std::string mask_name(Slot slot) { return "p" + text(slot); }

}  // namespace

// --- What leaves the compiled code -----------------------------------------------------------------------------------

void Writer::spill(Slot slot, const Value& v) {
  if (v.in_frame) return;
  const std::string to = text(slot), raw = unsigned_of(v.bytes);
  if (v.where == Value::rows)
    line("  spill<" + raw + ">(f + " + to + ", " + v.name + ", " + raw + "(" + text(v.stride) + "));");
  if (v.where == Value::mask) line("  *at<u32>(f, " + to + ") = " + v.name + ";");
  if (v.where == Value::array)
    line("  put(at<" + v.type + ">(f, " + to + "), " + v.name + (together_ ? ");" : ", m);"));
}

void Writer::to_frame(Slot slot) {
  const auto found = values_.find(slot);
  if (found == values_.end()) return;
  spill(slot, found->second);
  found->second.in_frame = true;
}

// Registers that are read from `pc` on go to the frame. `unspent`: instructions that were counted and do not run.
void Writer::leave_before(u32 pc, const Values& values, const char* how, u32 unspent) {
  for (const auto& [slot, v] : values) {
    if (flow_.live(slot, pc)) spill(slot, v);
  }
  line("  warp.pc = " + text(pc) + ";");
  line("  budget = left" + (unspent != 0 ? " + " + text(unspent) : "") + ";");
  line("  return Left::" + std::string(how) + ";");
}

// Otherwise the interpreter runs the segment, of which nothing has been written yet.
void Writer::require(const std::string& condition) {
  line("if (!(" + condition + ")) [[unlikely]] {");
  if (segment_ == block_->begin) {
    line("  left += " + text(block_->end - block_->begin) + ";");
    line("  goto X" + text(segment_) + ";");
  } else {
    leave_before(segment_, at_segment_, "careful", block_->end - segment_);
  }
  line("}");
}

void Writer::require_behind_loop(const std::string& condition) {
  std::swap(out_, behind_);
  require(condition);
  std::swap(out_, behind_);
}

// --- Loops over the lanes --------------------------------------------------------------------------------------------

// Writes the loop that has come together. What is read from instruction `next` on is in arrays then, or in masks.
void Writer::cut(u32 next) {
  if (loop_.empty() && behind_.empty()) return;
  std::string stores, masks;
  for (auto& [slot, v] : values_) {
    v.awaited = false;
    const bool live = flow_.live(slot, next);
    if (v.where == Value::flag) {
      v = Value{Value::mask, live ? keep_flag(slot, v, stores, masks) : "0u", 0, 0, false};
    } else if (v.where == Value::lane && !live) {
      v = Value{};
    } else if (v.where == Value::lane) {
      const std::string name = fresh("w");
      line("alignas(64) " + v.type + " " + name + "[kWarpSize];");
      stores += "      " + name + "[lane] = " + v.name + ";\n";
      v = Value{Value::array, name, v.bytes, 0, false, v.type};
    }
  }
  write_loop(stores, masks);
}

// The same, with the registers in the frame. If the loop may find out that it has to be left, they cannot go there
// before it has ended: the interpreter then needs what was there.
void Writer::flush(u32 next) {
  if (may_fail_ || !behind_.empty()) cut(next);
  std::string stores, masks;
  for (auto& [slot, v] : values_) {
    const bool live = flow_.live(slot, next);
    if (v.where == Value::flag) {
      v = Value{Value::mask, live ? keep_flag(slot, v, stores, masks) : "0u", 0, 0, false};
    } else if (v.where == Value::lane || v.where == Value::array) {
      const std::string from = v.where == Value::lane ? v.name : v.name + "[lane]";
      const std::string to = "at<" + v.type + ">(f, " + text(slot) + ")[lane]";
      const bool all = together_ || (one_by_one_ && !loop_.empty());
      if (live && !v.in_frame)
        stores +=
            "      " + to + " = " + (all ? from : "pick<" + v.type + ">(m >> lane, " + from + ", " + to + ")") + ";\n";
      v = Value{};
    }
  }
  write_loop(stores, masks);
}

// The name of a mask that has a predicate's flags once the loop has ended.
std::string Writer::keep_flag(Slot slot, const Value& v, std::string& stores, std::string& masks) {
  const std::string name = fresh("q");
  stores += "      " + name + (one_by_one_ ? "b |= u32(" + v.name + " & 1) << lane;\n" : "b[lane] = " + v.name + ";\n");
  line(one_by_one_ ? "u32 " + name + "b = 0;" : "alignas(64) i32 " + name + "b[kWarpSize];");
  const std::string all = one_by_one_ ? name + "b" : "gathered(" + name + "b)";
  // The function's variable of this register still has the lanes that do not execute.
  masks += "    const u32 " + name + " = " + (together_ ? all : "(" + mask_name(slot) + " & ~m) | (" + all + " & m)") +
           ";\n";
  return name;
}

// `stores`: what its end does in each lane; `masks`: what is behind it.
void Writer::write_loop(const std::string& stores, const std::string& masks) {
  if (!loop_.empty() || !stores.empty()) {
    if (may_fail_) line("failed = false;");
    // Copies alone are vector code.
    line(loop_.empty() ? kVectors : loop_begin());
    out_ += loop_ + stores;
    line("}");
    if (may_fail_) require("!failed");
  }
  out_ += masks + behind_;
  loop_.clear(), behind_.clear(), groups_.clear(), alike_.clear();
  may_fail_ = false;
}

std::string Writer::loop_begin() const {
  const std::string places = "[[maybe_unused]] const u32 row = lane / kRow, place = lane % kRow;";
  if (!one_by_one_) return kVectors;
  return together_ ? "for (u32 lane = 0; lane < kWarpSize; ++lane) { const bool first = lane == 0; " + places
                   : "for (u32 rest = m; rest != 0; rest &= rest - 1) { const u32 lane = u32(__builtin_ctz(rest)); "
                     "const bool first = rest == m; " +
                         places;
}

void Writer::begin_segment(u32 next) {
  segment_ = next;
  at_segment_ = values_;
  rows_.clear();
}

// --- Control ---------------------------------------------------------------------------------------------------------

void Writer::call(u32 i) {
  const Instruction& at = instruction(i);
  cut(i);
  for (const Slot slot : flow_.reads(i)) to_frame(slot);
  for (const Slot slot : flow_.writes(i)) to_frame(slot);  // it may leave some lanes as they are
  const bool always = at.guard == kNoSlot;
  const std::string index = text(i);
  line("warp.pc = " + text(i + 1) + ";");
  if (!always) line("if (const u32 e = " + guard_mask(i) + "; e != 0) {");
  line("  warp.mask = " + (always ? guard_mask(i) : "e") + ";");
  line("  code[" + index + "].run(reinterpret_cast<Warp&>(warp), code[" + index + "]);");
  if (!always) line("}");
  for (const Slot slot : flow_.writes(i)) {
    const Kind kind = flow_.result(i, kinds_);
    if (kind.in_rows) {  // a special register
      const u32 bytes = size_of(flow_.operations()[i].types[0]);
      const std::string name = fresh("r");
      line("Each<" + unsigned_of(bytes) + "> " + name + "; take<" + unsigned_of(bytes) + ">(f + " + text(slot) + ", " +
           name + ", 0, true);");
      values_[slot] = {Value::rows, name, bytes, kind.stride, true};
      continue;
    }
    if (!flow_.is_predicate(slot)) {
      values_[slot] = Value{};
      continue;
    }
    const std::string name = fresh("d");
    line("const u32 " + name + " = *at<u32>(f, " + text(slot) + ");");
    values_[slot] = {Value::mask, name, 0, 0, true};
  }
  if (flow_.operations()[i].kind == Operation::leave && !entry_) {  // the frame is gone
    line("budget = left;");
    line("return Left::settled;");
    return;
  }
  if (flow_.operations()[i].kind == Operation::other || flow_.operations()[i].kind == Operation::leave) {
    line("if (warp.pc != " + text(i + 1) + " || warp.stop <= " + text(i + 1) +
         " || warp.lanes != " + (together_ ? "kAllLanes" : "m") + " || warp.base[0] != f) [[unlikely]] {");
    for (const auto& [slot, v] : values_) {  // it may go elsewhere (brx.idx)
      if (flow_.live(slot, i) || flow_.live(slot, i + 1)) spill(slot, v);
    }
    if (together_) line("  warp.tidy = " + text(i + 1) + ";");
    line("  budget = left;");
    line("  return Left::settled;");
    line("}");
  }
  begin_segment(i + 1);
}

void Writer::one(u32 i) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  sources_.clear(), varies_ = false;
  const auto awaited = [&](Slot slot) { return slot != kNoSlot && value(slot).awaited; };
  if (std::any_of(flow_.reads(i).begin(), flow_.reads(i).end(), awaited) ||
      (at.guard != kNoSlot && std::any_of(flow_.writes(i).begin(), flow_.writes(i).end(), awaited)))
    cut(i);
  const bool inlined = one_by_one_ && operation.kind == Operation::computes;
  if (flow_.uses_handler(i, kinds_) && !inlined) {
    call(i);
  } else if (operation.kind == Operation::loads) {
    load(i);
  } else if (operation.kind == Operation::stores) {
    store(i);
  } else if (operation.kind == Operation::combines) {
    combine(i);
  } else if (operation.kind == Operation::compares) {
    const bool rows = together_ && flow_.kind(at.slot[2], kinds_).in_rows && flow_.kind(at.slot[3], kinds_).in_rows;
    const auto flagged = [&](Slot slot) { return value(slot).where == Value::flag; };
    if (rows && (flagged(at.slot[0]) || flagged(at.slot[1]) || flagged(at.slot[4]) || flagged(at.guard & ~3u))) cut(i);
    compare(i, rows);
  } else {
    const Kind kind = flow_.result(i, kinds_);
    if (kind.in_rows)
      in_rows(i, kind);
    else
      in_lanes(i);
  }
}

// Backwards, code goes through one place, where it also enters: of a loop with several entries, g++ would not make
// vector code. A loop of one block has only one.
std::string Writer::go_to(u32 target) const {
  return target < block_->begin ? "{ to = " + text(target) + "; goto again; }" : "goto L" + text(target) + ";";
}

// A branch is the last instruction of its block: `finish` has written the registers to where both ways expect them.
void Writer::branch(u32 i) {
  const Instruction& at = instruction(i);
  const std::string target = text(at.target), next = text(i + 1), index = text(i);
  const std::string there = go_to(at.target);
  const std::string go = together_ ? there
                                   : "{ if (!alone) { warp.mask = m, warp.pc = " + next + "; code[" + index +
                                         "].run(reinterpret_cast<Warp&>(warp), code[" + index + "]); } " + there + " }";
  if (at.guard == kNoSlot) return line(go);
  const std::string all = together_ ? "kAllLanes" : "m";
  line("if (e == " + all + ") " + go);
  const bool ends =
      entry_ && flow_.operations()[at.target].kind == Operation::leave && instruction(at.target).guard == kNoSlot;
  const std::string end = "--left, warp.mask = e, warp.pc = " + text(at.target + 1) + "; code[" + target +
                          "].run(reinterpret_cast<Warp&>(warp), code[" + target + "]);";
  // Lanes that end at the target never join the others again, so they end at once, and the others go on.
  if (ends && !together_) line("if (e != 0 && alone) { " + end + " m = warp.lanes; goto L" + next + "; }");
  line("if (e != 0) {");
  const Values& values = values_;
  for (const auto& [slot, v] : values) {
    if (flow_.live(slot, i + 1) || flow_.live(slot, at.target)) spill(slot, v);
  }
  if (ends && together_) {
    line("  " + end);
    line("  warp.pc = " + next + ";");
    line("  budget = left;");
    line("  return Left::settled;");
    line("}");
    return;
  }
  line("  warp.mask = e, warp.pc = " + next + ";");
  line("  code[" + index + "].run(reinterpret_cast<Warp&>(warp), code[" + index + "]);");
  line("  budget = left;");
  line("  return Left::settled;");
  line("}");
}

// --- Blocks ----------------------------------------------------------------------------------------------------------

// Loads in no order make most of the difference: one lane after the other, a value goes from one instruction to the
// next in a register of the processor. Where there is much to compute with what they load, vectors are better.
bool Writer::is_better_one_by_one(const Block& block) const {
  constexpr u32 kWorth = 12;
  std::map<Slot, Kind> kinds = block.kinds;
  u32 loads = 0, others = 0;
  for (u32 i = block.begin; i < block.end; ++i) {
    const bool load = flow_.operations()[i].kind == Operation::loads;
    if (load && !flow_.address_stride(i, kinds)) ++loads;
    if (!load && !flow_.result(i, kinds).in_rows) ++others;
    flow_.advance(i, kinds);
  }
  return loads * kWorth > others;
}

void Writer::begin(const Block& block) {
  block_ = &block;
  one_by_one_ = is_better_one_by_one(block);
  values_.clear();
  kinds_ = block.kinds;
  for (const Slot slot : flow_.live(block.begin)) {
    if (flow_.is_predicate(slot)) values_[slot] = {Value::mask, mask_name(slot), 0, 0, false};
  }
  for (const auto& [slot, kind] : block.kinds) {
    if (!flow_.is_predicate(slot) && flow_.live(slot, block.begin))
      values_[slot] = {Value::rows, row_name(slot), bytes_.at(slot), kind.stride, false};
  }
  // Predicates that are not read on, but written under a guard, have a variable all the same.
  for (u32 i = block.begin; i < block.end; ++i) {
    for (const Slot slot : flow_.writes(i)) {
      if (flow_.is_predicate(slot) && !values_.contains(slot))
        values_[slot] = {Value::mask, mask_name(slot), 0, 0, false};
    }
  }
}

void Writer::write(const Block& block) {
  begin(block);
  const std::string pc = text(block.begin), count = text(block.end - block.begin);
  // The code that enters here, and the code that leaves here.
  std::string& out = out_;
  std::string body;
  std::swap(body, out);
  line("E" + pc + ":");
  for (const auto& [slot, v] : values_) {
    if (v.where == Value::mask && together_) line("  " + v.name + " = *at<u32>(f, " + text(slot) + ");");
    if (v.where == Value::rows) {
      const std::string raw = unsigned_of(v.bytes);
      line("  if (!take<" + raw + ">(f + " + text(slot) + ", " + v.name + ", " + raw + "(" + text(v.stride) +
           "), tidy)) return Left::elsewhere;");
    }
  }
  for (const auto& [slot, kind] : block.kinds) {
    if (flow_.is_predicate(slot) && flow_.live(slot, block.begin))
      line("  if (!tidy && !even(" + mask_name(slot) + ")) return Left::elsewhere;");
  }
  line("  to = " + pc + ";");
  line("  goto again;");
  entries_ += out;
  out.clear();
  line("X" + pc + ":");
  leave_before(block.begin, values_, "careful", 0);
  leaves_ += out;
  std::swap(body, out);

  out_ += "  L" + pc + ":\n";
  line(std::string("if (left < ") + count + (together_ ? "" : " || warp.stop < " + text(block.end)) +
       ") [[unlikely]] goto X" + pc + ";");
  line("left -= " + count + ";");
  out_ += "  {\n";
  begin_segment(block.begin);
  steady_.clear();
  for (u32 i = block.begin; i < block.end; ++i) {
    if (flow_.operations()[i].kind == Operation::branch) break;
    one(i);
    flow_.advance(i, kinds_);
  }
  finish(block);
  out_ += "  }\n";
}

// Hands the registers over to the blocks behind this one.
void Writer::finish(const Block& block) {
  const u32 last = block.end - 1;
  const bool branches = flow_.operations()[last].kind == Operation::branch;
  flush(branches ? last : block.end);
  if (flow_.operations()[last].kind == Operation::leave) {
    line("return Left::settled;");
    return;
  }
  if (branches && instruction(last).guard != kNoSlot) line("const u32 e = " + guard_mask(last) + ";");
  for (auto& [slot, v] : values_) {
    bool variable = false, frame = false;
    for (const u32 at : block.next) {
      if (!flow_.live(slot, at)) continue;
      if (v.where == Value::rows) (flow_.kind(slot, flow_.blocks().at(at).kinds).in_rows ? variable : frame) = true;
      variable |= v.where == Value::mask;
    }
    if (frame) to_frame(slot);
    const std::string name = v.where == Value::rows ? row_name(slot) : mask_name(slot);
    if (variable && name != v.name) line(name + " = " + v.name + ";");
  }
  if (branches) branch(last);
  const bool always = branches && instruction(last).guard == kNoSlot;
  if (!always && block.end < code_.instructions.size()) line("goto L" + text(block.end) + ";");
}

void Writer::find_sizes() {
  for (const Code::Index& each : code_.indices) bytes_[each.slot] = 4;
  for (u32 i = 0; i < code_.instructions.size(); ++i) {
    const Operation& operation = flow_.operations()[i];
    if (operation.kind < Operation::reads_same || operation.kind == Operation::compares ||
        operation.kind == Operation::combines)
      continue;
    if (operation.kind == Operation::stores) continue;
    const u32 bytes = size_of(operation.kind == Operation::loads ? operation.types[1] : result_type(i));
    for (const Slot slot : flow_.writes(i)) bytes_[slot] = bytes;
  }
}

void Writer::declare() {
  std::set<Slot> masks, rows;
  for (const auto& [at, block] : flow_.blocks()) {
    for (const auto& [slot, kind] : block.kinds) {
      if (!flow_.is_predicate(slot)) rows.insert(slot);
    }
  }
  for (u32 i = 0; i < code_.instructions.size(); ++i) {
    for (const Slot slot : flow_.writes(i)) {
      if (flow_.is_predicate(slot)) masks.insert(slot);
    }
    for (const Slot slot : flow_.live(i)) {
      if (flow_.is_predicate(slot)) masks.insert(slot);
    }
  }
  for (const Slot slot : rows) line("Each<" + unsigned_of(bytes_.at(slot)) + "> " + row_name(slot) + ";");
  // For lanes that do not execute, the variables keep the values in the frame.
  for (const Slot slot : masks)
    line("u32 " + mask_name(slot) + " = " + (together_ ? "0" : "*at<u32>(f, " + text(slot) + ")") + ";");
}

std::string Writer::run() {
  find_sizes();
  for (const auto& [at, block] : flow_.blocks()) {
    if (!together_ || block.reached) write(block);
  }
  const std::string body = std::move(out_);
  out_.clear();
  out_ += std::string("extern \"C\" Left ") + (together_ ? "together" : "apart") +
          "(WarpState& warp, i64& budget, const SharedRange& shared, const LocalRange& local, "
          "[[maybe_unused]] bool alone) {\n";
  line("std::byte* const f = warp.base[0];");
  line("const std::byte* const k = warp.base[1];");
  line("const Instruction* const code = warp.code;");
  line("View* const views = warp.views;");
  line("const u64 first_view = reinterpret_cast<u64>(code) / sizeof(Instruction);");
  if (!together_) line("u32 m = warp.lanes;");
  line("static_cast<void>(k), static_cast<void>(views), static_cast<void>(first_view), static_cast<void>(shared);");
  line("static_cast<void>(local);");
  line("i64 left = budget;");
  line("[[maybe_unused]] bool failed = false;");
  // The beginning of a block of threads has the registers right.
  if (together_) line("[[maybe_unused]] const bool tidy = warp.pc == 0 || warp.pc == warp.tidy;");
  line("warp.tidy = kNoTarget;");
  declare();
  const auto choose = [&](const char* from, const char* letter) {
    line(std::string("switch (") + from + ") {");
    for (const auto& [at, block] : flow_.blocks()) {
      if (!together_ || block.reached) line("  case " + text(at) + ": goto " + letter + text(at) + ";");
    }
    line("  default: return Left::elsewhere;");
    line("}");
  };
  line("u32 to;");
  choose("warp.pc", "E");
  out_ += entries_ + "  again:\n";
  line("asm(\"\" : \"+r\"(to));  // keeps the compiler from making entries of the loops again");
  choose("to", "L");
  return out_ + body + leaves_ + "}\n";
}

std::string written(const Code& code, const Shape& shape, bool entry) {
  std::string all = "extern \"C\" const bool begins[] = {";
  const Flow together(code, shape, true), apart(code, shape, false);
  for (u32 i = 0; i < code.instructions.size(); ++i) all += apart.blocks().contains(i) ? "1," : "0,";
  all += "};\n\n";
  return all + Writer(together, true, entry).run() + "\n" + Writer(apart, false, entry).run();
}

}  // namespace cudasim::compile
