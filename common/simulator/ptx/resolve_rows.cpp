// Instructions with a row: whether the module's version and target have them, and each operand as the row's rule wants
// it. Source: PTX ISA, "Instruction operands".
#include "common/simulator/isa/sets.hpp"
#include "common/simulator/ptx/resolve_control.hpp"
#include "common/simulator/ptx/resolve_operands.hpp"

namespace cudasim::ptx {

static void check_opaque(const Draft& draft, const Statement& s);
static void operands(Draft& draft, const std::vector<OperandRule>& rules);
static bool could_be(const Draft& draft, const OperandRule& rule, const Operand& given);
static Type type_of(const OperandRule& rule, const Form& form);
static void missing(Draft& draft, const OperandRule& rule);
static void operand(Draft& draft, const OperandRule& rule, const Operand& given);
static u32 bytes_of_elements(const Draft& draft, const Operand& given);
static void scalar(Draft& draft, const OperandRule& rule, const Operand& given);
static void destination(Draft& draft, const OperandRule& rule, Type type, const Operand& given);
static void source(Draft& draft, const OperandRule& rule, Type type, const Operand& given);
static void selectors(Draft& draft, const OperandRule& rule, const Operand& given);
namespace {

constexpr std::size_t kSlots = sizeof(Instruction::slot) / sizeof(Slot);

// ld.v8.f32, st.v4.b64: a newer architecture's.
bool moves_256_bits(const Statement& s) {
  if ((s.opcode != "ld" && s.opcode != "st") || s.modifiers.empty()) return false;
  const u32 width = bits(type_named(s.modifiers.back()));
  const auto has = [&](const char* vector) {
    return std::find(s.modifiers.begin(), s.modifiers.end(), vector) != s.modifiers.end();
  };
  return (has("v8") && width == 32) || (has("v4") && width == 64);
}

// How many coordinates of one or two dimensions a texture or surface instruction reads. Old compilers write four for
// all.
u32 coordinates_of(const Form& form) {
  if (!form.opcode.starts_with("tex") && form.opcode != "tld4" && !form.opcode.starts_with("su")) return 0;
  if (form.has("1d")) return 1;
  return form.has("2d") || form.has("a1d") ? 2 : 0;
}

// The first architecture that has the form.
u32 first_target(const Row& row, const Form& form, u32 version) {
  if (row.is(kFirstOn90) && version < 81) return 90;
  // sm_11 and sm_12 already count, in words: the former in global memory only.
  const bool early = row.is(kAtomic) && row.target == 20 && form.types == 1 && !is_float(form.type[0]);
  if (early && form.space == Space::global) return bytes(form.type[0]) == 4 ? 11 : 12;
  if (early && form.space == Space::shared && bytes(form.type[0]) == 4) return 12;
  return row.target;
}

}  // namespace

// by_row = [guard] opcode {"." modifier} [operands]
void by_row(Draft& draft, const Statement& s, const Match& found) {
  if (found.row == nullptr) {
    if (moves_256_bits(s)) {
      fail(s.at, std::string("Feature '256 bit wide load/store' requires ") +
                     (draft.body.module.version() < 88 ? "PTX ISA .version 8.8 or later" : ".target sm_100 or higher"));
    }
    draft.body.link.errors.push_back(
        {found.not_simulated ? Diagnostic::unsupported : Diagnostic::syntax, s.at, found.refusal});
    return;
  }
  check_version(draft, s, *found.row, found.form);
  check_features(draft.body, s);
  check_opaque(draft, s);
  draft.statement = &s;
  draft.form = found.form;
  draft.stores = found.operands->size() > 1 && found.operands->front().kind == OperandRule::memory;
  operands(draft, *found.operands);
  if (draft.index_register != kNoSlot) {
    const auto behind = draft.form.vector + 1;
    draft.slots.insert(draft.slots.begin() + behind, draft.index_register);
    draft.addresses.push_back(draft.index_register);
    draft.written.insert(draft.written.begin() + behind, false);
  }
  const Bound bound = found.row->bind == nullptr ? Bound() : found.row->bind(draft.form);
  if (bound.run == nullptr) {
    draft.body.link.errors.push_back(
        {Diagnostic::unsupported, s.at, "Instruction '" + mnemonic(draft) + "' with these operands is not simulated"});
    return;
  }
  Instruction& instruction = draft.instruction;
  instruction.run = bound.run;
  instruction.control = bound.control;
  instruction.guard = guard(draft, s);
  std::copy_n(draft.slots.begin(), std::min(draft.slots.size(), kSlots), instruction.slot);
  if (draft.slots.size() > kSlots) {
    instruction.wide = draft.body.out.code->wide.emplace_back(draft.slots).data();
  }
  const bool surely = s.guard.empty();
  for (std::size_t i = 0; i < draft.slots.size(); ++i) {
    if (draft.written[i] && !draft.updated) continue;
    const auto& addresses = draft.addresses;
    const bool address = std::find(addresses.begin(), addresses.end(), draft.slots[i]) != addresses.end();
    mention(draft.body, draft.slots[i], false, surely, address);
  }
  for (std::size_t i = 0; i < draft.slots.size(); ++i) {
    if (draft.written[i]) mention(draft.body, draft.slots[i], true, surely);
  }
  Step step;
  step.ends = found.row->is(kEnds);
  step.falls_through = !step.ends || !s.guard.empty();
  const bool jumps = instruction.target != kNoTarget;
  if (jumps) step.target = instruction.target;
  const u32 at = emit(draft.body, instruction, {}, {}, step);
  if (draft.offset_of.kind != AddressOf::none) draft.body.out.fixups.push_back({at, draft.offset_of});
  note_unfinished(draft, at);
  note_address(draft);
  note_origin(draft);
}

void check_version(const Draft& draft, const Statement& s, const Row& row, const Form& form) {
  const u32 version = draft.body.module.version();
  // 6.0 stands for the rows that name no version: they are as old, or older.
  if (row.ptx > 60 && version < row.ptx) {
    fail(s.at, "Instruction '" + mnemonic(draft) + "' requires PTX ISA .version " + std::to_string(row.ptx / 10) + "." +
                   std::to_string(row.ptx % 10) + " or later");
  }
  if (row.target == kOnly90a) {
    if (draft.body.module.target_name != "sm_90a")
      fail(s.at, "Instruction '" + s.opcode + "' not supported on .target '" + draft.body.module.target_name + "'");
  } else if (const u32 first = first_target(row, form, version); draft.body.module.target < first) {
    fail(s.at, "Instruction '" + mnemonic(draft) + "' requires .target sm_" + std::to_string(first) + " or higher");
  }
  // With independent progress, an instruction must name the lanes that it waits for.
  if (row.is(kWithoutSync) && draft.body.module.target >= 70 && version >= 64) {
    fail(s.at, "Instruction '" + s.opcode +
                   "' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4");
  }
}

// What a modifier needs, whatever instruction it is of.
void check_features(const Body& body, const Statement& s) {
  for (const std::string& modifier : s.modifiers) {
    for (const Feature& feature : kFeatures) {
      if (feature.modifier != modifier) continue;
      const std::string what = std::string("Feature '") + feature.name + "' requires ";
      if (body.module.version() < feature.ptx) {
        fail(s.at, what + "PTX ISA .version " + std::to_string(feature.ptx / 10) + "." +
                       std::to_string(feature.ptx % 10) + " or later");
      }
      if (body.module.target < feature.target)
        fail(s.at, what + ".target sm_" + std::to_string(feature.target) + " or higher");
    }
  }
}

// Whether a variable of an opaque type is of the one that the instruction takes.
static void check_opaque(const Draft& draft, const Statement& s) {
  const bool surface = s.opcode.starts_with("su");
  if (!surface && !s.opcode.starts_with("tex") && s.opcode != "tld4" && s.opcode != "txq") return;
  for (std::size_t n = 0; n < s.operands.size(); ++n) {
    const Address* address = std::get_if<Address>(&s.operands[n].value);
    if (address == nullptr || draft.body.names.find(address->base)) continue;
    const Symbol* symbol = symbol_of(draft, address->base);
    if (symbol == nullptr || symbol->kind != Symbol::variable) continue;
    const Type type = draft.body.link.variables[symbol->index].variable->type;
    const auto asks = [&](const char* what) {
      return s.opcode == "txq" && !s.modifiers.empty() && s.modifiers[0].starts_with(what);
    };
    const bool of_sampler = asks("force_unnormalized_coords") ||
                            ((asks("filter_mode") || asks("addr_mode_")) && draft.body.module.independent_textures);
    const Type wanted = surface ? Type::surfref : of_sampler ? Type::samplerref : Type::texref;
    if (type == wanted || (type != Type::texref && type != Type::samplerref && type != Type::surfref)) continue;
    fail(s.at, "Argument " + std::to_string(n) + " of instruction '" + s.opcode + "': ." + name(wanted) +
                   " or .u64 register expected");
  }
}

// What a row wants of a number: that it is one, and which. And which of the 16 barriers a kernel needs: up to the
// highest number that is named; all of them if a register is.
static void check_number(const Draft& draft, const OperandRule& rule, u32 argument, const Operand& given) {
  const Immediate* number = std::get_if<Immediate>(&given.value);
  if (number == nullptr && rule.must && !rule.second) mismatch(draft);
  if (rule.means == OperandRule::barrier)
    draft.body.out.barriers =
        std::max(draft.body.out.barriers, number == nullptr ? 16 : static_cast<u32>(number->bits) + 1);
  if (number == nullptr) return;
  const u64 value = number->bits;
  if (rule.means == OperandRule::barrier && value > 15)
    fail(draft.at, "Barrier number '" + std::to_string(value) + "' out of range, expected to be in range [0..15]");
  if (rule.means == OperandRule::threads && value % kWarpSize != 0)
    fail(draft.at, "Number of threads participating in barrier must be in multiple of warp size");
  if (rule.numbers && !(*rule.numbers)(value)) {
    const std::string what =
        "Argument " + std::to_string(argument) + " of instruction '" + draft.source->opcode + "': ";
    const std::string shown = "value '" + std::to_string(static_cast<i64>(value)) + "'";
    if (rule.numbers->is_range())
      fail(draft.at, what + shown + " out of range, expected to be in range " + rule.numbers->text());
    fail(draft.at, what + "unexpected " + shown + ", expected to be " + rule.numbers->text());
  }
}

// operands = operand ["|" operand] {"," operand ["|" operand]}
//
// Gives each rule its operand; what follows inside the brackets of a memory operand counts as an operand of its own.
static void operands(Draft& draft, const std::vector<OperandRule>& rules) {
  std::vector<const Operand*> given;
  std::vector<Operand> coordinates;  // without what is too much of them
  coordinates.reserve(draft.statement->operands.size());
  for (const Operand& each : draft.statement->operands) {
    given.push_back(&each);
    if (!std::holds_alternative<Address>(each.value)) continue;
    for (const Operand& inner : each.elements) {
      const u32 count = coordinates_of(draft.form);
      const bool vector = inner.is_vector && (inner.elements.size() == 2 || inner.elements.size() == 4);
      if (vector && count != 0 && inner.elements.size() > count) {
        coordinates.push_back(inner);
        coordinates.back().elements.resize(count);
      }
      given.push_back(vector && count != 0 && inner.elements.size() > count ? &coordinates.back() : &inner);
    }
  }
  std::size_t needed = 0;
  for (const OperandRule& rule : rules) {
    if (!rule.optional && !rule.second) ++needed;
  }
  if (given.size() < needed) mismatch(draft);
  std::size_t spare = given.size() - needed, next = 0;
  const Operand* before = nullptr;
  for (const OperandRule& rule : rules) {
    if (rule.second) {
      if (before != nullptr && before->pair != nullptr) {
        operand(draft, rule, *before->pair);
      } else if (rule.must) {
        fail(draft.at, "Predicate output expected for instruction '" + draft.source->opcode + "'");
      } else {
        missing(draft, rule);
      }
    } else if (rule.optional && (spare == 0 || !could_be(draft, rule, *given[next]))) {
      missing(draft, rule);
    } else {
      if (rule.optional) --spare;
      before = given[next++];
      const OperandRule* following = &rule + 1 < rules.data() + rules.size() ? &rule + 1 : nullptr;
      const bool takes_pair = following != nullptr && following->second && !following->never;
      if (before->pair != nullptr && !takes_pair) {
        if (rule.written) fail(draft.at, "Predicate output not allowed for instruction '" + draft.source->opcode + "'");
        mismatch(draft);
      }
      // As ptxas counts them: a register that is written does not count.
      const bool result_first = !draft.written.empty() && draft.written.front();
      if (!rule.written) check_number(draft, rule, draft.index + (result_first ? 0 : 1), *before);
      operand(draft, rule, *before);
    }
    ++draft.index;
  }
  if (next != given.size()) mismatch(draft);
}

// Whether an operand has the shape that an optional rule asks for: of several that may be left out, each takes what is
// meant for it.
static bool could_be(const Draft& draft, const OperandRule& rule, const Operand& given) {
  if (rule.kind != OperandRule::value || rule.elements == OperandRule::kVector || rule.or_fragment) return true;
  if (given.is_vector) return rule.vector || rule.elements > 1;
  const Name* name = std::get_if<Name>(&given.value);
  if (name == nullptr) return rule.elements == 1;
  if (is_vector_register(draft.body, given)) return rule.elements > 1;
  const std::optional<Reg> reg = find_register(draft, given);
  if (!reg || rule.wider || rule.or_predicate) return rule.elements == 1;
  const Type type = type_of(rule, draft.form);
  return rule.elements == 1 && bytes(type) == bytes(reg->type) && agrees(type, reg->type);
}

static Type type_of(const OperandRule& rule, const Form& form) {
  const Type type = rule.of < 0 ? rule.type : form.type[static_cast<std::size_t>(rule.of)];
  if (!rule.twice) return type;
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    case Type::b16: return Type::b32;
    case Type::b32: return Type::b64;
    case Type::b64: return Type::b128;
    case Type::f16: return Type::f32;
    case Type::f32: return Type::f64;
    default: return Type::b64;
  }
}

void set_width(Draft& draft, u32 width) {
  if (draft.index < draft.form.width.size()) draft.form.width[draft.index] = static_cast<u8>(width);
}

static void missing(Draft& draft, const OperandRule& rule) {
  u32 count = rule.elements == OperandRule::kVector ? draft.form.vector : rule.elements;
  if (rule.kind == OperandRule::label || rule.kind == OperandRule::immediate || rule.kind == OperandRule::function)
    count = 0;
  draft.slots.insert(draft.slots.end(), count, kNoSlot);
  draft.written.insert(draft.written.end(), count, false);
}

// operand = memory | label | number | vector | scalar, as the rule says
static void operand(Draft& draft, const OperandRule& rule, const Operand& given) {
  switch (rule.kind) {
    case OperandRule::memory:
      if (++draft.memories > 1) return further_memory(draft, given);
      return memory(draft, given);
    case OperandRule::label: draft.instruction.target = label(draft, given); return;
    case OperandRule::immediate: {
      const Immediate* number = std::get_if<Immediate>(&given.value);
      if (number == nullptr || is_float(number->type) || given.is_vector) mismatch(draft);
      draft.instruction.offset = static_cast<i64>(number->bits);
      return;
    }
    case OperandRule::function: mismatch(draft);
    case OperandRule::value: break;
  }
  if (rule.or_fragment && given.is_vector) {
    OperandRule fragment = rule;
    fragment.type = Type::b32;
    fragment.or_fragment = false;
    fragment.vector = true;
    fragment.elements = 4;
    draft.form.predicate |= 1u << draft.index;
    return vector(draft, fragment, 4, given);
  }
  const u32 count = rule.elements == OperandRule::kVector ? draft.form.vector : rule.elements;
  const bool one_of_one = given.is_vector && given.elements.size() == 1 && rule.vector;
  if (count == 1 && !one_of_one) return scalar(draft, rule, given);
  vector(draft, rule, count, given);
}

// vector = "{" scalar {"," scalar} "}" | a register that was declared as a vector
void vector(Draft& draft, const OperandRule& rule, u32 count, const Operand& given) {
  OperandRule each = rule;
  each.elements = 1;
  if (given.is_vector) {
    if (given.elements.size() != count || given.negated) mismatch(draft);
    draft.in_vector = true;
    draft.element_bytes = rule.wider ? bytes_of_elements(draft, given) : 0;
    for (const Operand& part : given.elements) scalar(draft, each, part);
    draft.element_bytes = 0;
    draft.in_vector = false;
    return;
  }
  // A register that was declared as a vector stands for its elements.
  const Name* whole = std::get_if<Name>(&given.value);
  const std::optional<Binding> binding = whole == nullptr ? std::nullopt : draft.body.names.find(whole->text);
  if (whole != nullptr && !binding) unknown(draft, whole->text);
  if (!binding || !whole->selector.empty() || vector_of(draft.body, whole->text) != count) mismatch(draft);
  constexpr const char* kParts[] = {"x", "y", "z", "w"};
  for (u32 i = 0; i < count; ++i) {
    Operand part = given;
    part.value = Name{whole->text, i < 4 ? kParts[i] : "?"};
    scalar(draft, each, part);
  }
}

// One handler serves all elements: registers of one size, which numbers and what is left out then have, too.
static u32 bytes_of_elements(const Draft& draft, const Operand& given) {
  u32 size = 0;
  for (const Operand& part : given.elements) {
    const std::optional<Reg> reg = find_register(draft, part);
    if (!reg) continue;
    if (size != 0 && size != bytes(reg->type)) fail(draft.at, "Incompatible elements of vector expression");
    size = bytes(reg->type);
  }
  return size;
}

// scalar = destination | source
static void scalar(Draft& draft, const OperandRule& rule, const Operand& given) {
  if (given.is_vector) fail(draft.at, "Vector operand is not allowed for instruction '" + draft.source->opcode + "'");
  if (std::holds_alternative<Address>(given.value)) mismatch(draft);
  Type type = type_of(rule, draft.form);
  draft.updated |= rule.updated;
  if (rule.written) return destination(draft, rule, type, given);
  if (rule.or_predicate) {
    const std::optional<Reg> reg = find_register(draft, given);
    if (reg && reg->type == Type::pred) type = Type::pred, draft.form.predicate |= 1u << draft.index;
  }
  source(draft, rule, type, given);
}

// destination = register ["." selector] | "_"
static void destination(Draft& draft, const OperandRule& rule, Type type, const Operand& given) {
  u32 id = 0;
  if (std::holds_alternative<Sink>(given.value)) {
    if (!rule.second && !draft.in_vector && !rule.discardable) {
      fail(draft.at, "Result discard mode is not allowed for instruction '" + draft.source->opcode + "'");
    }
    // Nobody reads it, but the instruction has a place to write to.
    const u32 size = std::max(bytes(type), draft.element_bytes);
    id = temporary(draft.body, size == bytes(type) ? type : size == 2 ? Type::b16 : size == 4 ? Type::b32 : Type::b64);
    set_width(draft, size);
  } else {
    const Name* to = std::get_if<Name>(&given.value);
    if (to == nullptr) fail(draft.at, "Result register required for instruction '" + draft.source->opcode + "'");
    const std::optional<Reg> reg = find_register(draft, given);
    if (!reg) {
      if (!draft.body.names.find(to->text) && symbol_of(draft, to->text) == nullptr) unknown(draft, to->text);
      fail(draft.at, "Result register required for instruction '" + draft.source->opcode + "'");
    }
    if (given.negated || given.addend != 0 || given.index != 0) mismatch(draft);
    if (!fits(type, reg->type, rule.wider, draft.in_vector, rule.of >= 0)) mismatch(draft);
    id = reg->id;
    set_width(draft, bytes(reg->type));
  }
  selectors(draft, rule, given);
  draft.slots.push_back(id);
  draft.written.push_back(true);
}

// source = value ["." selector]
static void source(Draft& draft, const OperandRule& rule, Type type, const Operand& given) {
  u32 width = bytes(type);
  Value from;
  const Immediate* number = std::get_if<Immediate>(&given.value);
  if (number != nullptr && !given.negated && draft.element_bytes > width) {
    const std::optional<u64> bits = convert_immediate(*number, type);
    if (!bits) mismatch(draft);
    width = draft.element_bytes;
    from.slot = draft.body.out.constants.number(*bits, width);
  } else {
    from = value(draft, given, type, rule.wider, &width, draft.in_vector, rule.of >= 0);
  }
  set_width(draft, width);
  selectors(draft, rule, given);
  draft.slots.push_back(from.slot);
  draft.written.push_back(false);
}

// What a video instruction selects of a register.
static void selectors(Draft& draft, const OperandRule& rule, const Operand& given) {
  const Name* name = std::get_if<Name>(&given.value);
  if (name == nullptr || name->selector.empty()) return;
  if (name->selector.size() < 2) return;  // an element of a vector, or the part of a special register
  if (!rule.selected || draft.index >= draft.form.selector.size()) mismatch(draft);
  draft.form.selector[draft.index] = name->selector;
}

}  // namespace cudasim::ptx
