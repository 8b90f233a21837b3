// The instructions that compute: operands, expressions, predicates.
#include "common/simulator/compile/writer.hpp"

#include "common/simulator/exec/access.hpp"

namespace cudasim::compile {

// --- Operands --------------------------------------------------------------------------------------------------------

Value Writer::value(Slot slot) const {
  const auto found = values_.find(slot);
  return found == values_.end() ? Value{} : found->second;
}

static std::string literal(u64 number, const std::string& type, u32 bytes) {
  return "as<" + type + ">(" + unsigned_of(bytes) + "(" + text(number) + "u))";
}

std::string Writer::row_text(Slot slot, const std::string& type) const {
  const u32 bytes = size_of(type);
  if ((slot & kConstant) != 0) {
    const auto n = number(code_, slot, bytes);
    return n ? literal(*n, type, bytes) : "*at<" + type + ">(k, " + text(slot & ~kConstant) + ")";
  }
  return "as<" + type + ">(" + value(slot).name + "[row])";
}

std::string Writer::lane_text(Slot slot, const std::string& type) {
  const u32 bytes = size_of(type);
  if ((slot & kConstant) != 0) {
    if (const auto n = number(code_, slot, bytes)) return literal(*n, type, bytes);
    const std::string name = fresh("c");
    line("const " + type + " " + name + " = *at<" + type + ">(k, " + text(slot & ~kConstant) + ");");
    return name;
  }
  const Value v = value(slot);
  sources_.insert(v.sources.begin(), v.sources.end());
  varies_ |= v.varies || (v.where == Value::rows && v.stride != 0);
  if (v.where == Value::frame) sources_.insert("at<u" + text(8 * bytes) + ">(f, " + text(slot) + ")");
  if (v.where == Value::array) sources_.insert(v.name);
  if (v.where == Value::lane) return "as<" + type + ">(" + v.name + ")";
  if (v.where == Value::array) return "as<" + type + ">(" + v.name + "[lane])";
  if (v.where == Value::rows) {
    const std::string raw = unsigned_of(v.bytes);
    if (v.stride == 0) return "as<" + type + ">(" + v.name + "[row])";
    return "as<" + type + ">(" + raw + "(" + v.name + "[row] + " + raw + "(" + text(v.stride) + ") * " + raw +
           "(place)))";
  }
  return "at<" + type + ">(f, " + text(slot) + ")[lane]";
}

std::string Writer::mask_text(Slot slot) const {
  if ((slot & kConstant) != 0) return "*at<u32>(k, " + text(slot & ~kConstant) + ")";
  return value(slot).name;
}
std::string Writer::flag_text(Slot slot) {
  const Value v = value(slot);
  varies_ = true;
  if ((slot & kConstant) == 0 && v.where == Value::flag) return v.name;
  return "-i32(" + mask_text(slot) + " >> lane & 1)";
}
std::string Writer::guard_mask(u32 i) const {
  const Slot guard = instruction(i).guard;
  const std::string all = together_ ? "kAllLanes" : "m";
  if (guard == kNoSlot) return all;
  return "(" + std::string((guard & 1) != 0 ? "~" : "") + mask_text(guard & ~3u) + (together_ ? "" : " & m") + ")";
}
std::string Writer::guard_flag(u32 i) {
  const Slot guard = instruction(i).guard;
  return "(" + flag_text(guard & ~3u) + ((guard & 1) != 0 ? " == 0)" : " != 0)");
}
std::string Writer::offset_text(u32 i, i64 offset) const {
  const bool small = offset > -(i64{1} << 31) && offset < i64{1} << 31;
  return small ? "u64(i64(" + text(offset) + "))" : "u64(code[" + text(i) + "].offset)";
}

// --- Instructions ----------------------------------------------------------------------------------------------------

std::vector<std::string> Writer::operand_types(u32 i) const {
  const Operation& operation = flow_.operations()[i];
  switch (operation.kind) {
    case Operation::computes: return {operation.types.begin() + 1, operation.types.end()};
    case Operation::selects: return {operation.types[0], operation.types[0]};
    case Operation::extends: return {operation.types[0]};
    case Operation::adds_window: return {"u64"};
    case Operation::adds_offset: return {operation.types[0]};
    default: return {};
  }
}
std::string Writer::result_type(u32 i) const {
  const Operation& operation = flow_.operations()[i];
  return operation.kind == Operation::extends       ? operation.types[2]
         : operation.kind == Operation::adds_window ? "u64"
                                                    : operation.types[0];
}

std::string Writer::expression(u32 i, const std::vector<std::string>& operands) const {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const std::string type = result_type(i);
  switch (operation.kind) {
    case Operation::computes: {
      std::string all;
      for (const std::string& each : operands) all += (all.empty() ? "" : ", ") + each;
      return "static_cast<" + type + ">(" + operation.op + "::of(" + all + "))";
    }
    case Operation::extends: {
      const Type to = Type(at.control & 63), from = Type(at.control >> 6 & 63);  // see isa/convert.cpp
      return "conversions::Extend<" + operation.types[0] + ", " + operation.types[1] + ", " + operation.types[2] +
             ", " + operation.types[3] + ", false>::of(" + operands[0] + ", " + text(bits(from)) + ", " +
             text(bits(to)) + ")";
    }
    case Operation::adds_window:
      return operands[0] + (operation.types[0] == "true" ? " - u64(" : " + u64(") +
             text(window(static_cast<Space>(at.control))) + "u)";
    case Operation::adds_offset:
      return "static_cast<" + type + ">(" + (operands.empty() ? "" : operands[0] + " + ") + "static_cast<" + type +
             ">(" + offset_text(i) + "))";
    case Operation::shared_address: return "static_cast<" + type + ">(shared.begin + " + offset_text(i) + ")";
    default: return "";
  }
}

// None of a row's lanes may have wrapped around. Once a block has tested that, it knows.
void Writer::require_steady(Slot slot, const std::string& type) {
  const Value v = value(slot);
  if (v.where != Value::rows || v.stride == 0) return;
  const std::string condition = "steady<" + type + ", " + text(v.stride) + ">(" + v.name + ")";
  if (steady_.insert(condition).second) require(condition);
}

void Writer::in_rows(u32 i, Kind kind) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const std::vector<std::string> types = operand_types(i);
  std::vector<std::string> operands;
  for (u32 a = 0; a < types.size(); ++a) {
    if (at.slot[1 + a] == kNoSlot) continue;
    operands.push_back(row_text(at.slot[1 + a], types[a]));
    const i64 stride = stride_of(at.slot[1 + a]);
    const bool widens = operation.kind == Operation::extends
                            ? size_of(operation.types[2]) > size_of(operation.types[0])
                            : operation.op == "integers::MulWide" || (operation.op == "integers::MadWide" && a < 2);
    if (stride == 0 || !widens) continue;
    const bool is_signed =
        operation.kind == Operation::extends ? operation.types[1] == "true" : is_signed_type(types[a]);
    require_steady(at.slot[1 + a], is_signed ? "i32" : "u32");
  }
  const u32 bytes = size_of(result_type(i));
  const std::string raw = unsigned_of(bytes), name = fresh("r");
  std::string result;
  if (operation.kind == Operation::selects)
    result = "(" + mask_text(at.slot[3]) + " >> row_begin(row) & 1) != 0 ? " + operands[0] + " : " + operands[1];
  else
    result = expression(i, operands);
  line("const auto " + name + " = each<" + raw + ">([&](u32 row) { return as<" + raw + ">(" + result + "); });");
  values_[at.slot[0]] = {Value::rows, name, bytes, kind.stride, false};
}

void Writer::in_lanes(u32 i) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const std::vector<std::string> types = operand_types(i);
  std::vector<std::string> operands;
  for (u32 a = 0; a < types.size(); ++a) {
    if (at.slot[1 + a] != kNoSlot) operands.push_back(lane_text(at.slot[1 + a], types[a]));
  }
  std::string result = operation.kind == Operation::selects
                           ? flag_text(at.slot[3]) + " != 0 ? " + operands[0] + " : " + operands[1]
                           : expression(i, operands);
  const std::string type = result_type(i), name = fresh("t");
  if (at.guard != kNoSlot) {
    const std::string fresh_value = fresh("n");
    in_loop("const " + type + " " + fresh_value + " = " + result + ";");
    result = guard_flag(i) + " ? " + fresh_value + " : " + lane_text(at.slot[0], type);
  }
  in_loop("const " + type + " " + name + " = " + result + ";");
  values_[at.slot[0]] = {Value::lane, name, size_of(type), 0, false, type, false, sources_, varies_};
}

// Predicates ----------------------------------------------------------------------------------------------------------

void Writer::set_predicate(u32 i, Slot slot, const std::string& result, bool flag) {
  const std::string name = fresh("b");
  if (flag) {
    const bool guarded = instruction(i).guard != kNoSlot;
    in_loop("const i32 " + name + " = " +
            (guarded ? guard_flag(i) + " ? i32(" + result + ") : " + flag_text(slot) : result) + ";");
    values_[slot] = {Value::flag, name, 0, 0, false};
    return;
  }
  const std::string mask = guard_mask(i);
  const bool all = mask == "kAllLanes";
  line("const u32 " + name + " = " +
       (all ? result : "(" + mask_text(slot) + " & ~" + mask + ") | ((" + result + ") & " + mask + ")") + ";");
  values_[slot] = {Value::mask, name, 0, 0, false};
}

void Writer::compare(u32 i, bool rows) {
  const Instruction& at = instruction(i);
  const std::string how = flow_.operations()[i].op, memory = "typename " + how + "::Memory";
  const std::string relations = text(at.control & 15);
  const u32 bytes = how.find("Plain<") != how.npos
                        ? size_of(how.substr(how.find("Plain<") + 6, how.size() - how.find("Plain<") - 7))
                    : how.find("Flushed") != how.npos ? 4
                                                      : 2;
  const std::string raw = unsigned_of(bytes);
  const std::string result = fresh("x");
  if (rows) {
    const auto each = [&](Slot slot) {
      return "each<" + raw + ">([&](u32 row) { return " + row_text(slot, raw) + "; })";
    };
    line("const u32 " + result + " = related<" + how + ", " + relations + ", " + text(stride_of(at.slot[2])) + ", " +
         text(stride_of(at.slot[3])) + ">(" + each(at.slot[2]) + ", " + each(at.slot[3]) + ");");
  } else {
    const auto read = [&](Slot slot) { return how + "::load(as<" + memory + ">(" + lane_text(slot, raw) + "))"; };
    const std::string a = read(at.slot[2]), b = read(at.slot[3]);
    in_loop("const i32 " + result + " = holds<" + relations + ">(" + a + ", " + b + ") ? -1 : 0;");
  }
  constexpr const char* kCombine[] = {"", " & ", " | ", " ^ "};
  const std::string by = kCombine[at.control >> 4 & 3];  // see isa/compare.cpp
  const std::string with = by.empty() ? "" : by + (rows ? mask_text(at.slot[4]) : flag_text(at.slot[4]));
  const std::string p = result + with, q = "~" + result + with;
  if (at.slot[0] != kNoSlot) set_predicate(i, at.slot[0], p, !rows);
  if (at.slot[1] != kNoSlot) set_predicate(i, at.slot[1], q, !rows);
}

void Writer::combine(u32 i) {
  const Instruction& at = instruction(i);
  const bool two = at.slot[2] != kNoSlot;
  const auto is_flag = [&](Slot slot) {
    return slot != kNoSlot && (slot & kConstant) == 0 && value(slot).where == Value::flag;
  };
  const bool flag = is_flag(at.slot[1]) || is_flag(at.slot[2]) || is_flag(at.slot[0]) ||
                    (at.guard != kNoSlot && is_flag(at.guard & ~3u));
  const auto operand = [&](Slot slot) {
    return flag ? "i32(" + flag_text(slot) + ")" : "u32(" + mask_text(slot) + ")";
  };
  const std::string result =
      flow_.operations()[i].op + "::of(" + operand(at.slot[1]) + (two ? ", " + operand(at.slot[2]) : "") + ")";
  set_predicate(i, at.slot[0], result, flag);
}

}  // namespace cudasim::compile
