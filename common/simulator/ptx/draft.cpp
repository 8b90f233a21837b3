// The registers that a statement names, the types that agree, and the instructions that it becomes. Source: PTX ISA,
// "Type information for instructions and operands", "Operand size exceeding instruction-type size".
#include "common/simulator/ptx/draft.hpp"

#include "common/simulator/numbers.hpp"
#include "common/simulator/wanted.hpp"

namespace cudasim::ptx {

Body::Body(const Module& of, const LinkedFunction& linked, u32 files_before, Link& all)
    : module(of),
      module_index(linked.module),
      function(*linked.function),
      file_base(files_before),
      link(all),
      names(function) {
  if (notes_wanted()) notes.notes = std::make_shared<Notes>();
}

void fail(Position at, std::string message) { throw Failure{at, std::move(message)}; }
void mismatch(const Draft& draft) {
  fail(draft.at, "Arguments mismatch for instruction '" + draft.source->opcode + "'");
}
void unknown(const Draft& draft, const std::string& name) {
  fail(draft.at, "Unknown symbol '" + Cursor::shown(name) + "'");
}

// Whether an operand of type `want` may be a register of type `have` of the same size.
bool agrees(Type want, Type have) {
  if (want == have) return true;
  if (want == Type::s16x2 || want == Type::u16x2) return have == Type::b32 || have == Type::f16x2;
  if (want == Type::pred || have == Type::pred) return false;
  if (is_float(want) && is_float(have)) return false;
  if (is_float(want)) return !is_signed(have) && !is_unsigned(have);
  if (is_float(have)) return !is_signed(want) && !is_unsigned(want);
  return true;
}

// Whether a register that may be wider than the instruction's type can hold it.
bool holds(Type want, Type have) {
  if (bytes(want) == bytes(have)) return agrees(want, have);
  if (bytes(have) < bytes(want) || have == Type::pred || want == Type::bf16) return false;
  const bool any_bits = !is_float(want) && !is_signed(want) && !is_unsigned(want);
  if (is_float(want)) return !is_float(have) && !is_signed(have) && !is_unsigned(have);
  return any_bits || !is_float(have);
}

// What ptxas takes: `wider` as the row says; and in the braces of such an operand integers for floats of their size.
// Where the instruction's name says the type, .f16x2 is .b32 to integers.
bool fits(Type want, Type have, bool wider, bool in_vector, bool named) {
  if (named && have == Type::f16x2 && !is_float(want) && want != Type::pred) have = Type::b32;
  const bool same_size = bytes(want) == bytes(have);
  if (!wider) return same_size && agrees(want, have);
  if (in_vector && same_size && is_float(want) && (is_signed(have) || is_unsigned(have))) return true;
  return holds(want, have);
}

bool before(Position a, Position b) { return a.line != b.line ? a.line < b.line : a.column < b.column; }

// --- Registers -------------------------------------------------------------------------------------------------------

u32 temporary(Body& body, Type type) {
  body.registers.push_back(type);
  return static_cast<u32>(body.registers.size() - 1);
}

Reg element(Body& body, u32 reg, u32 number, u32 part) {
  const Register& declared = body.function.registers[reg];
  auto& ids = body.register_ids[reg];
  if (ids.size() <= number) ids.resize(number + 1, kUnset);
  if (ids[number] == kUnset) {
    ids[number] = static_cast<u32>(body.registers.size());
    body.registers.insert(body.registers.end(), declared.vector, declared.type);
  }
  return {ids[number] + part, declared.type};
}

// A name of the module's that is declared before the statement.
const Symbol* symbol_of(const Draft& draft, const std::string& name) {
  const Symbol* symbol = draft.body.link.find(draft.body.module_index, name);
  return symbol != nullptr && before(symbol->declared, draft.at) ? symbol : nullptr;
}

// Which element of a register is meant: the x of v.x.
u32 part_of(const std::string& name, const std::string& selector, u32 vector, Position at) {
  if (vector == 1) {
    if (selector.size() == 1) fail(at, "Unknown video selector: '." + selector + "'");
    return 0;
  }
  constexpr std::string_view kParts = "xyzwrgba";
  const std::size_t part = selector.size() == 1 ? kParts.find(selector[0]) % 4 : kParts.size();
  if (selector.size() != 1 || part >= vector) fail(at, "Element of vector '" + name + "' expected");
  return static_cast<u32>(part);
}

std::optional<Reg> find_register(const Draft& draft, const std::string& name, const std::string& selector,
                                 Position at) {
  const std::optional<Binding> binding = draft.body.names.find(name);
  if (!binding) return std::nullopt;
  if (binding->kind == Binding::parameter || binding->kind == Binding::result) {
    const bool result = binding->kind == Binding::result;
    const Parameter& parameter =
        (result ? draft.body.function.results : draft.body.function.parameters)[binding->index];
    if (!parameter.in_register) return std::nullopt;
    const u32 part = part_of(name, selector, parameter.vector, at);
    return Reg{draft.body.parameter_registers.at(u64{binding->index} * 2 + (result ? 1 : 0)) + part, parameter.type};
  }
  if (binding->kind != Binding::reg) return std::nullopt;
  const Register& declared = draft.body.function.registers[binding->index];
  if (!before(declared.at, draft.at)) unknown(draft, name);
  return element(draft.body, binding->index, binding->number, part_of(name, selector, declared.vector, at));
}

std::optional<Reg> find_register(const Draft& draft, const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  if (name == nullptr || operand.is_vector) return std::nullopt;
  const std::optional<Reg> reg = find_register(draft, name->text, name->selector, operand.at);
  if (reg && !operand.index_register.empty()) mismatch(draft);
  return reg;
}

Slot guard(const Draft& draft, const Statement& statement) {
  if (statement.guard.empty()) return kNoSlot;
  const std::optional<Reg> reg = find_register(draft, statement.guard, "", statement.at);
  if (!reg && !draft.body.names.find(statement.guard)) unknown(draft, statement.guard);
  if (!reg || reg->type != Type::pred) fail(statement.at, "Predicate expression expected");
  return reg->id;
}

// The elements of a register, or of a parameter that is one; 0 if the name means something else.
u32 vector_of(const Body& body, const std::string& name) {
  const auto binding = body.names.find(name);
  if (!binding) return 0;
  if (binding->kind == Binding::reg) return body.function.registers[binding->index].vector;
  if (binding->kind != Binding::parameter && binding->kind != Binding::result) return 0;
  const auto& list = binding->kind == Binding::result ? body.function.results : body.function.parameters;
  return list[binding->index].in_register ? list[binding->index].vector : 0;
}

// A register declared as a vector, named whole.
bool is_vector_register(const Body& body, const Operand& operand) {
  const Name* name = operand.is_vector ? nullptr : std::get_if<Name>(&operand.value);
  return name != nullptr && name->selector.empty() && vector_of(body, name->text) > 1;
}

// Names the elements of such a register one by one.
void spell_out(const Body& body, Operand& operand) {
  if (!is_vector_register(body, operand)) return;
  const std::string name = std::get<Name>(operand.value).text;
  const u32 count = vector_of(body, name);
  constexpr const char* kParts[] = {"x", "y", "z", "w"};
  for (u32 i = 0; i < count && i < 4; ++i) {
    Operand part = operand;
    part.value = Name{name, kParts[i]};
    operand.elements.push_back(std::move(part));
  }
  operand.is_vector = true;
}

// --- The frame -------------------------------------------------------------------------------------------------------

// The size of a device function's parameter in memory: whole words, as in the registers of a GPU. LLVM stores a word
// into a parameter of two bytes.
u32 handed_over(u64 size, u32 align) { return static_cast<u32>(align % 4 == 0 ? round_up(size, 4) : size); }

u32 place_local(Body& body, u64 size, u32 align, Position at) {
  Code& code = *body.out.code;
  const u64 offset = round_up(code.local_bytes, align);
  if (offset + size > kLargestFrame) fail(at, "Function '" + body.function.name + "' uses too much local data");
  code.local_bytes = static_cast<u32>(offset + size);
  return static_cast<u32>(offset);
}

// --- Output ----------------------------------------------------------------------------------------------------------

void mention(Body& body, Slot slot, bool written, bool surely, bool address) {
  if (slot == kNoSlot || (slot & kConstant) != 0) return;
  const u32 instruction = static_cast<u32>(body.out.code->instructions.size());
  body.mentions.push_back({instruction, slot, written && surely, !written, address});
  if (written) {
    if (body.indices.written.size() <= slot) body.indices.written.resize(body.registers.size(), 0);
    body.indices.written[slot] = instruction + 1;
    note_write(body, slot);
  }
  if (body.notes.notes == nullptr) return;
  if (written)
    body.notes.notes->results.push_back({instruction, slot, body.registers[slot], ""});
  else
    body.notes.read.push_back(slot);
}

// Slots are the numbers of virtual registers until assign_slots().
u32 emit(Body& body, const Instruction& instruction, std::initializer_list<Slot> read,
         std::initializer_list<Slot> written, Step step) {
  const bool surely = instruction.guard == kNoSlot;
  mention(body, instruction.guard, false, false);
  for (Slot slot : read) mention(body, slot, false, surely);
  for (Slot slot : written) mention(body, slot, true, surely);
  body.steps.push_back(step);
  body.out.code->instructions.push_back(instruction);
  body.out.code->instructions.back().statement = static_cast<u32>(body.out.code->statements.size() - 1);
  return static_cast<u32>(body.out.code->instructions.size() - 1);
}

std::string mnemonic(const Draft& draft) {
  std::string text = draft.source->opcode;
  for (const std::string& modifier : draft.source->modifiers) text += "." + modifier;
  return text;
}

}  // namespace cudasim::ptx
