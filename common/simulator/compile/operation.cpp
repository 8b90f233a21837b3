// Takes the descriptions of handlers apart.
#include "common/simulator/compile/operation.hpp"

#include "common/simulator/exec/described.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/isa/memory.hpp"

#include <algorithm>
#include <unordered_map>

namespace cudasim::compile {
namespace {

// "Computes<A, B<C, D>>" → "Computes", "A", "B<C, D>", without the simulator's namespace.
std::vector<std::string> parts(std::string_view text) {
  std::vector<std::string> found(1);
  u32 depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' && ++depth == 1) {
      found.emplace_back();
    } else if (c == '>' && --depth == 0) {
      break;
    } else if (c == ',' && depth == 1) {
      found.emplace_back();
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else {
      found.back() += c;
    }
  }
  for (std::string& part : found) {
    while (part.ends_with(' ')) part.pop_back();
    constexpr std::string_view kOwn = "cudasim::";
    for (std::size_t at; (at = part.find(kOwn)) != part.npos;) part.erase(at, kOwn.size());
  }
  return found;
}

const std::unordered_map<Handler, std::vector<std::string>>& all_descriptions() {
  static const auto& made = *new auto([] {
    std::unordered_map<Handler, std::vector<std::string>> map;
    for (const Description* each = descriptions; each != nullptr; each = each->next) {
      const std::string_view text = each->text;
      const std::size_t begin = text.find("Tag = ") + 6;
      const std::string_view tag = text.substr(begin, text.rfind(']') - begin);
      const bool hidden = tag.find("anonymous") != tag.npos;  // only its own file can name it
      if (!hidden) map.emplace(each->run, parts(tag));
    }
    return map;
  }());
  return made;
}

// Operations that g++ and clang++ make vector code of, as part of a longer loop, too.
bool vectorizes(std::string_view op) {
  static constexpr std::string_view kSimple[] = {"integers::Add",
                                                 "integers::Sub",
                                                 "integers::MulLo",
                                                 "integers::MadLo",
                                                 "integers::Min",
                                                 "integers::Max",
                                                 "integers::Neg",
                                                 "integers::Abs",
                                                 "integers::MulWide",
                                                 "integers::MadWide",
                                                 "logic::And",
                                                 "logic::Or",
                                                 "logic::Xor",
                                                 "logic::Not",
                                                 "logic::Shl",
                                                 "logic::Shr",
                                                 "logic::Prmt",
                                                 "integers::Bfi",
                                                 "conversions::Copy",
                                                 "conversions::F32ToF64",
                                                 "conversions::F64ToF32",
                                                 "conversions::FlushedF32ToF64",
                                                 "conversions::FlushedF64ToF32",
                                                 "conversions::Saturated"};
  if (std::find(std::begin(kSimple), std::end(kSimple), op) != std::end(kSimple)) return true;
  static constexpr std::string_view kTemplates[] = {"conversions::ToInteger<int",
                                                    "conversions::ToInteger<unsigned int",
                                                    "conversions::ToWhole<",
                                                    "conversions::FromInteger<",
                                                    "integers::Dp4a<",
                                                    "integers::Dp2a<"};
  const auto begins = [&](std::string_view each) { return op.starts_with(each); };
  if (std::any_of(std::begin(kTemplates), std::end(kTemplates), begins)) return true;
  static constexpr std::string_view kFloats[] = {"Add",  "Sub", "Mul", "Fma",     "Div", "Rcp",
                                                 "Sqrt", "Neg", "Abs", "Extreme", "Ex2"};
  constexpr std::string_view kModified = "floats::Modified<floats::";
  if (!op.starts_with(kModified)) return false;
  const std::string_view inner = op.substr(kModified.size());
  return std::any_of(std::begin(kFloats), std::end(kFloats), [&](std::string_view each) {
    return inner.starts_with(each) && (inner[each.size()] == ',' || inner[each.size()] == '<');
  });
}

Operation memory_access(const std::vector<std::string>& part, const Instruction& instruction, Operation::Kind kind) {
  Operation operation;
  // A read that may be a spin's lets others run, and fences are the handler's business.
  if ((instruction.control & (kPoll | kAcquire | kRelease)) != 0) return operation;
  operation.kind = kind;
  operation.types = {part[1], part[2]};
  operation.elements = instruction.control & kElements;
  switch (way_of(instruction.control)) {
    case Way::global: operation.place = Operation::global; break;
    case Way::indexed: operation.place = Operation::indexed; break;
    case Way::shared: operation.place = Operation::shared, operation.types.emplace_back("u32"); break;
    case Way::shared_wide: operation.place = Operation::shared, operation.types.emplace_back("u64"); break;
    case Way::local:
      operation.place = Operation::local;
      operation.types.emplace_back((instruction.control & kNarrow) != 0 ? "u32" : "u64");
      break;
    default: operation.kind = Operation::plain;
  }
  if (size_of(part[1]) == 0 || size_of(part[2]) == 0) operation.kind = Operation::plain;
  return operation;
}

}  // namespace

u32 size_of(std::string_view type) {
  const auto has = [&](std::string_view word) { return type.find(word) != type.npos; };
  if (has("<") || has("::") || has("__int128")) return 0;
  if (type == "u8") return 1;
  if (type == "u16") return 2;
  if (type == "u32" || type == "i32") return 4;
  if (type == "u64" || type == "i64") return 8;
  if (has("char")) return 1;
  if (has("short")) return 2;
  if (has("long") || has("double")) return 8;
  return has("int") || has("float") || has("unsigned") ? 4 : 0;
}

bool is_signed_type(std::string_view type) {
  return type.find("unsigned") == type.npos && type != "float" && type != "double";
}

Operation operation_of(const Instruction& instruction) {
  Operation operation;
  if (instruction.run == run_branch) operation.kind = Operation::branch;
  if (instruction.run == run_return) operation.kind = Operation::leave;
  const auto found = all_descriptions().find(instruction.run);
  if (found == all_descriptions().end()) return operation;
  const std::vector<std::string>& part = found->second;
  const auto is = [&](std::string_view name) { return part[0] == name; };
  operation.types.assign(part.begin() + 1, part.end());
  if (is("Computes")) {
    operation.kind = Operation::computes;
    operation.op = part[1];
    operation.types.erase(operation.types.begin());
    operation.vectorizes = vectorizes(operation.op);
    for (const std::string& type : operation.types) {
      if (size_of(type) == 0) operation.kind = Operation::plain;
    }
  } else if (is("ReadsSame")) {
    operation.kind = Operation::reads_same;
  } else if (is("ReadsLane")) {
    operation.kind = Operation::reads_lane;
  } else if (is("ReadsThread")) {
    operation.kind = Operation::reads_thread;
    operation.elements = static_cast<u32>(std::stoul(part[1]));
    operation.types.erase(operation.types.begin());
  } else if (is("Compares")) {
    operation.kind = Operation::compares;
    operation.op = part[1];
    operation.vectorizes = true;
  } else if (is("Selects")) {
    operation.kind = Operation::selects;
    operation.vectorizes = true;
  } else if (is("Extends")) {
    operation.kind = Operation::extends;
    operation.vectorizes = true;
  } else if (is("Combines")) {
    operation.kind = Operation::combines;
    operation.op = part[1];
    operation.types.clear();
  } else if (is("AddsWindow")) {
    operation.kind = Operation::adds_window;
  } else if (is("AddsOffset")) {
    operation.kind = Operation::adds_offset;
  } else if (is("SharedAddress")) {
    operation.kind = Operation::shared_address;
  } else if (is("LoadsAs")) {
    return memory_access(part, instruction, Operation::loads);
  } else if (is("StoresAs")) {
    return memory_access(part, instruction, Operation::stores);
  }
  return operation;
}

}  // namespace cudasim::compile
