// The forms of mov that are more than a copy, and what need not run at all: a parameter's other names.
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/ptx/draft.hpp"
#include "common/simulator/ptx/resolve_operands.hpp"

namespace cudasim::ptx {
namespace {

struct SpecialAxis {  // of a special register
  std::string_view name;
  u32 axis;  // 0 for x, 1 for y, 2 for z
};

}  // namespace

static void pack(const Draft& draft, const Statement& s, Type type);
static void unpack(const Draft& draft, const Statement& s, Type type);
static void move_vector(Draft& draft, const Statement& s, Type type, u32 count);
static std::optional<Slot> of_launch(Body& body, const Statement& s, const Match& found);
static std::optional<SpecialAxis> axis_read(const Body& body, const Statement& s, const Match& found);
static void count_writes(Body& body, const Operand& operand) {
  if (const Name* name = std::get_if<Name>(&operand.value)) ++body.moves.writes[name->text];
  for (const Operand& each : operand.elements) count_writes(body, each);
  if (operand.pair != nullptr) count_writes(body, *operand.pair);
}

// By name, whatever the scope: to count too many does no harm.
void count_writes(Body& body) {
  for (const Statement& s : body.function.statements) {
    if (!s.operands.empty()) count_writes(body, s.operands[0]);
  }
}

// special_mov = "mov" ["." vector] "." type destination "," source
//
// The forms of mov that are more than a copy: packing, unpacking, vectors, special registers, addresses in the frame.
bool special_mov(Draft& draft, const Statement& s) {
  if (s.operands.size() != 2) return false;
  u32 vector = 1;
  std::size_t at = 0;
  if (s.modifiers.size() == 2 && (s.modifiers[0] == "v2" || s.modifiers[0] == "v4")) {
    vector = static_cast<u32>(s.modifiers[0][1] - '0');
    at = 1;
  }
  if (s.modifiers.size() != at + 1) return false;
  const Type type = type_named(s.modifiers[at]);
  if (type == Type::none) return false;
  if (vector != 1) return move_vector(draft, s, type, vector), true;
  // mov.b64 %d, %v with a register that was declared as a vector is written mov.b64 %d, {%v.x, %v.y}, too (GCC does
  // not).
  if (is_vector_register(draft.body, s.operands[0]) || is_vector_register(draft.body, s.operands[1])) {
    Statement spelt = s;
    for (Operand& operand : spelt.operands) spell_out(draft.body, operand);
    return special_mov(draft, spelt);
  }
  if (s.operands[0].is_vector) return unpack(draft, s, type), true;
  if (s.operands[1].is_vector) return pack(draft, s, type), true;
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr || name->text[0] != '%' || draft.body.names.find(name->text)) return false;
  const std::string full = name->selector.empty() ? name->text : name->text + "." + name->selector;
  const std::optional<Reg> to = find_register(draft, s.operands[0]);
  if (!to || type == Type::pred || !fits(type, to->type, false, false, true)) return false;
  if (is_float(type) || !has_size(full, bytes(type))) return false;
  const Handler handler = special_register_handler(full, bytes(type));
  if (handler == nullptr) return false;
  reads_special(draft.body, full, s.at);
  Instruction instruction;
  instruction.run = handler;
  instruction.guard = guard(draft, s);
  instruction.slot[0] = to->id;
  emit(draft.body, instruction, {}, {to->id});
  return true;
}

// The type of the pieces that `type` is packed from.
static Type piece(Type type, std::size_t count) {
  const u32 width = count == 0 ? 0 : bits(type) / static_cast<u32>(count);
  switch (width) {
    case 8: return Type::b8;
    case 16: return Type::b16;
    case 32: return Type::b32;
    case 64: return Type::b64;
    default: return Type::none;
  }
}

// pack = "mov" "." type register "," "{" value {"," value} "}"
static void pack(const Draft& draft, const Statement& s, Type type) {
  const auto& parts = s.operands[1].elements;
  const Type each = piece(type, parts.size());
  if (is_float(type) || is_signed(type) || is_unsigned(type)) mismatch(draft);
  const Handler handler = each == Type::none ? nullptr : pack_handler(static_cast<u32>(parts.size()), bytes(each));
  const std::optional<Reg> to = find_register(draft, s.operands[0]);
  if (handler == nullptr || !to || bytes(to->type) != bytes(type) || to->type == Type::pred) mismatch(draft);
  Instruction instruction;
  instruction.run = handler;
  instruction.slot[0] = to->id;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    instruction.slot[i + 1] = value(draft, parts[i], each, false, nullptr).slot;
  }
  instruction.guard = guard(draft, s);
  const Slot* slot = instruction.slot;
  emit(draft.body, instruction, {slot[1], slot[2], slot[3], slot[4]}, {slot[0]});
}

// unpack = "mov" "." type "{" (register | "_") {"," …} "}" "," value
static void unpack(const Draft& draft, const Statement& s, Type type) {
  const auto& parts = s.operands[0].elements;
  const Type each = piece(type, parts.size());
  if (is_float(type) || is_signed(type) || is_unsigned(type)) mismatch(draft);
  const Handler handler = each == Type::none ? nullptr : unpack_handler(static_cast<u32>(parts.size()), bytes(each));
  if (handler == nullptr || s.operands[1].is_vector) mismatch(draft);
  Instruction instruction;
  instruction.run = handler;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (std::holds_alternative<Sink>(parts[i].value) && !parts[i].is_vector) continue;
    const std::optional<Reg> to = find_register(draft, parts[i]);
    if (!to || bytes(to->type) != bytes(each) || to->type == Type::pred) mismatch(draft);
    instruction.slot[i] = to->id;
  }
  const Slot from = value(draft, s.operands[1], type, false, nullptr).slot;
  instruction.slot[parts.size()] = from;
  instruction.guard = guard(draft, s);
  Slot to[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::copy_n(instruction.slot, parts.size(), to);
  emit(draft.body, instruction, {from}, {to[0], to[1], to[2], to[3]});
}

// mov.v4.f32 v, {a, b, c, d}: one mov for each element, through temporaries, because v may be on both sides.
static void move_vector(Draft& draft, const Statement& s, Type type, u32 count) {
  const std::string modifier[] = {name(type)};
  const Match found = match("mov", modifier);
  if (found.row == nullptr) fail(s.at, found.refusal);
  draft.row = found.row;
  Form form = found.form;
  form.width[0] = form.width[1] = static_cast<u8>(bytes(type));
  const Bound bound = found.row->bind(form);
  if (bound.run == nullptr) mismatch(draft);
  OperandRule rule;
  rule.type = type;
  rule.elements = count;
  Draft to = draft, from = draft;
  rule.written = true;
  vector(to, rule, count, s.operands[0]);
  rule.written = false;
  Operand source = s.operands[1];
  const Name* special = std::get_if<Name>(&source.value);
  if (special != nullptr && count == 4 && has_parts(special->text) && !draft.body.names.find(special->text)) {
    source.is_vector = true;  // mov.v4.u32 v, %tid
    for (const char* part : {"x", "y", "z", "w"}) {
      source.elements.emplace_back().value = Name{special->text, part};
      source.elements.back().at = source.at;
    }
  }
  vector(from, rule, count, source);
  Instruction instruction;
  instruction.run = bound.run;
  instruction.control = bound.control;
  instruction.guard = guard(draft, s);
  std::vector<Slot> between;
  for (Slot slot : from.slots) {
    between.push_back(temporary(draft.body, type));
    instruction.slot[0] = between.back();
    instruction.slot[1] = slot;
    emit(draft.body, instruction, {slot}, {between.back()});
  }
  for (u32 i = 0; i < count; ++i) {
    instruction.slot[0] = to.slots[i];
    instruction.slot[1] = between[i];
    emit(draft.body, instruction, {between[i]}, {to.slots[i]});
  }
}

// ld.param.u64 %rd1, [p]: from then on the register equals the kernel's parameter in all threads.
bool loads_parameter(const Body& body, const Statement& s) {
  if (s.opcode != "ld" || !s.guard.empty() || s.operands.size() != 2) return false;
  if (s.modifiers.size() != 2 || s.modifiers[0] != "param") return false;
  const Name* to = std::get_if<Name>(&s.operands[0].value);
  const Address* from = std::get_if<Address>(&s.operands[1].value);
  if (to == nullptr || from == nullptr || bytes(type_named(s.modifiers[1])) != 8) return false;
  const auto written = body.moves.writes.find(to->text);
  const auto binding = body.names.find(from->base);
  return written != body.moves.writes.end() && written->second == 1 && binding && binding->kind == Binding::parameter;
}

// What a kernel reads of its parameters, or %ntid and %nctaid, once into a register that is never written again, is the
// same in all threads: it lies among the launch's constants. %tid and %ctaid are there when a block begins. So nothing
// needs to run.
bool is_known_before(const Draft& draft, const Statement& s, const Match& found) {
  if (!draft.body.function.is_entry || draft.body.notes.notes != nullptr || found.row == nullptr || !s.guard.empty() ||
      s.operands.size() != 2)
    return false;
  const Name* to = std::get_if<Name>(&s.operands[0].value);
  if (to == nullptr || is_vector_register(draft.body, s.operands[0]) || s.operands[0].pair != nullptr ||
      found.form.types != 1 || found.form.vector != 1)
    return false;
  const auto written = draft.body.moves.writes.find(to->text);
  const std::optional<Reg> reg = find_register(draft, s.operands[0]);
  const Type type = found.form.type[0];
  if (!reg || written == draft.body.moves.writes.end() || written->second != 1 || bytes(reg->type) != bytes(type) ||
      !agrees(type, reg->type))
    return false;
  if (const std::optional<Slot> constant = of_launch(draft.body, s, found)) {
    draft.body.moves.of_launch.push_back({reg->id, *constant});
  } else if (const std::optional<SpecialAxis> part = axis_read(draft.body, s, found); part && part->name == "%tid") {
    draft.body.moves.of_block.push_back({reg->id, {Code::Index::thread, part->axis}});
  } else if (part && part->name == "%ctaid") {
    draft.body.moves.of_block.push_back({reg->id, {Code::Index::block, part->axis}});
  } else {
    return false;
  }
  check_version(draft, s, *found.row, found.form);
  check_features(draft.body, s);
  mention(draft.body, reg->id, true, true);
  return true;
}

static std::optional<Slot> of_launch(Body& body, const Statement& s, const Match& found) {
  const Operand& from = s.operands[1];
  const u32 size = bytes(found.form.type[0]);
  if (from.pair != nullptr || from.negated || from.index != 0 || size == 0 || size > 8) return std::nullopt;
  const Address* address = std::get_if<Address>(&from.value);
  const bool loads = found.operands->size() == 2 && found.operands->front().written &&
                     found.operands->back().kind == OperandRule::memory;
  if (loads && address != nullptr && found.form.space == Space::param && !found.form.has("param::func")) {
    const auto binding = body.names.find(address->base);
    if (!from.elements.empty() || !binding || binding->kind != Binding::parameter) return std::nullopt;
    const Code::Parameter& parameter = body.out.code->parameters[binding->index];
    const u64 offset = static_cast<u64>(address->offset);
    if (parameter.in_register || parameter.size < size || offset > parameter.size - size ||
        (parameter.offset + offset) % size != 0)
      return std::nullopt;
    return body.out.constants.of_launch(Code::OfLaunch::parameter, static_cast<u32>(parameter.offset + offset), size);
  }
  const std::optional<SpecialAxis> part = axis_read(body, s, found);
  if (!part || (part->name != "%ntid" && part->name != "%nctaid")) return std::nullopt;
  return body.out.constants.of_launch(part->name == "%ntid" ? Code::OfLaunch::block_size : Code::OfLaunch::grid_size,
                                      part->axis, 4);
}

// %tid.x in mov.u32 %r1, %tid.x, and its kin; not what the text has given such a name.
static std::optional<SpecialAxis> axis_read(const Body& body, const Statement& s, const Match& found) {
  const Operand& from = s.operands[1];
  const Name* name = std::get_if<Name>(&from.value);
  const bool moves = found.row->is(kTakesSpecial) && found.row->is(kTakesAddress);
  if (!moves || name == nullptr || from.pair != nullptr || from.negated || from.index != 0 || from.addend != 0 ||
      bytes(found.form.type[0]) != 4 || is_float(found.form.type[0]) || name->selector.size() != 1 ||
      body.names.find(name->text))
    return std::nullopt;
  const std::size_t axis = std::string_view("xyz").find(name->selector);
  if (axis == std::string_view::npos) return std::nullopt;
  return SpecialAxis{name->text, static_cast<u32>(axis)};
}

// cvta.to.global.u64 %rd4, %rd1 of a parameter: global addresses are generic ones, so %rd4 is only another name of
// %rd1, and nothing needs to run. Not if notes are kept: every statement is then to run.
bool renames(const Draft& draft, const Statement& s) {
  const bool to = !s.modifiers.empty() && s.modifiers[0] == "to";
  if (!s.guard.empty() || s.modifiers.size() != (to ? 3 : 2) || s.modifiers.back() != "u64") return false;
  const std::string& space = s.modifiers[to ? 1 : 0];
  if ((space != "global" && space != "const") || s.operands.size() != 2) return false;
  const Name* name = std::get_if<Name>(&s.operands[0].value);
  const Name* old = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr || old == nullptr || draft.body.moves.of_parameters.count(old->text) == 0 ||
      draft.body.moves.writes[name->text] != 1)
    return false;
  const auto binding = draft.body.names.find(name->text);
  if (!binding || binding->kind != Binding::reg || !name->selector.empty()) return false;
  const Register& declared = draft.body.function.registers[binding->index];
  const std::optional<Reg> from = find_register(draft, s.operands[1]);
  if (!from || declared.vector != 1 || bytes(declared.type) != 8 || !agrees(Type::u64, declared.type)) return false;
  auto& ids = draft.body.register_ids[binding->index];
  if (ids.size() <= binding->number) ids.resize(binding->number + 1, kUnset);
  if (ids[binding->number] != kUnset || !before(declared.at, draft.at)) return false;
  ids[binding->number] = from->id;
  return true;
}

}  // namespace cudasim::ptx
