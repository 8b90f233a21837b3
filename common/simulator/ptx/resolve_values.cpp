// What an operand names: a register, a number, a special register, an address, a place in memory.
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/ptx/resolve_control.hpp"
#include "common/simulator/ptx/resolve_operands.hpp"

namespace cudasim::ptx {

static Slot sum_of(const Draft& draft, const Reg& reg, i64 addend, Type type, bool in_vector);
static Value special_register(const Draft& draft, const std::string& written, Type type);
static std::optional<Value> address_value(const Draft& draft, const Operand& given, u32 bytes);
static Slot indexed_address(const Draft& draft, const Operand& given, u32 bytes);
static u32 element_size(const Draft& draft, const std::string& text);
static std::optional<Value> address_of(const Draft& draft, const Operand& given, u32 bytes);
static void memory_at_index(Draft& draft, const Operand& given);
static void memory_of_local(Draft& draft, u32 local, i64 offset);
static void uses_constant(const Draft& draft, const Variable& variable, u32 index);
static void memory_of_variable(Draft& draft, const Variable& variable, u32 index, i64 offset);
static Slot shared_address(const Draft& draft, u32 index, i64 offset, u32 bytes);
namespace {

bool is_opaque(Type type) { return type == Type::texref || type == Type::samplerref || type == Type::surfref; }

}  // namespace

// Special registers have 32 bits, of which a program may read 16, or 64. Source: PTX ISA, "Special registers".
bool has_size(std::string_view special, u32 bytes) {
  const bool wide = special == "%clock64" || special == "%globaltimer" || special == "%current_graph_exec" ||
                    special.ends_with("_64");
  if (special == "%gridid") return bytes != 0;  // 16 bits, then 32, and since PTX 3.0 64: all can be read
  return special == "%is_explicit_cluster" ? bytes == 0 : wide ? bytes == 8 : bytes == 4 || bytes == 2;
}

bool has_parts(std::string_view special) {
  return special[0] == '%' && special_register_handler(std::string(special) + ".x", 4) != nullptr;
}
// value = ["!"] register ["+" number] | number | address | special_register
Value value(const Draft& draft, const Operand& given, Type type, bool wider, u32* width, bool in_vector, bool named) {
  if (width != nullptr) *width = bytes(type);
  if (given.is_vector) mismatch(draft);
  if (const Immediate* number = std::get_if<Immediate>(&given.value)) {
    const std::optional<u64> bits = convert_immediate(*number, type);
    if (!bits || given.negated) mismatch(draft);
    return {draft.body.out.constants.number(*bits, bytes(type))};
  }
  const Name* from = std::get_if<Name>(&given.value);
  if (from == nullptr) mismatch(draft);
  if (const std::optional<Reg> reg = find_register(draft, given)) {
    if (given.index != 0) mismatch(draft);
    if (!fits(type, reg->type, wider, in_vector, named)) mismatch(draft);
    if (width != nullptr) *width = bytes(reg->type);
    if (given.addend != 0) return {sum_of(draft, *reg, given.addend, type, in_vector)};
    if (!given.negated) return {reg->id};
    if (type != Type::pred) fail(draft.at, "Illegal argument to predicate negation");
    Instruction instruction;
    instruction.run = run_not_predicate;
    instruction.slot[0] = temporary(draft.body, Type::pred);
    instruction.slot[1] = reg->id;
    emit(draft.body, instruction, {reg->id}, {instruction.slot[0]});
    return {instruction.slot[0]};
  }
  if (given.negated) mismatch(draft);
  if (const std::optional<Value> address = address_value(draft, given, bytes(type))) {
    if (is_float(type) || type == Type::pred) mismatch(draft);
    return *address;
  }
  const std::string full = from->selector.empty() ? from->text : from->text + "." + from->selector;
  return special_register(draft, full, type);
}

// register + number where a number is expected.
static Slot sum_of(const Draft& draft, const Reg& reg, i64 addend, Type type, bool in_vector) {
  Instruction sum;
  sum.run = sum_handler(bytes(reg.type));
  if (sum.run == nullptr || in_vector || is_float(type) || is_float(reg.type)) mismatch(draft);
  sum.slot[0] = temporary(draft.body, reg.type);
  sum.slot[1] = reg.id;
  sum.offset = addend;
  emit(draft.body, sum, {reg.id}, {sum.slot[0]});
  note_sum(draft.body, sum.slot[0], reg.id, kNoSlot);
  return sum.slot[0];
}

// Whether the text's version and target have the register, and what the kernel needs for it.
void reads_special(Body& body, const std::string& name, Position at) {
  const Since since = special_register_since(name);
  const std::string what = "Feature '" + std::string(since.name) + "' requires ";
  if (body.module.version() < since.ptx) {
    fail(at, what + "PTX ISA .version " + std::to_string(since.ptx / 10) + "." + std::to_string(since.ptx % 10) +
                 " or later");
  }
  if (body.module.target < since.target) fail(at, what + ".target sm_" + std::to_string(since.target) + " or higher");
  body.out.reserved_shared |= tells_of_reserved_shared(name);
}

// special_register = "%" name ["." ("x" | "y" | "z" | "w")]
static Value special_register(const Draft& draft, const std::string& written, Type type) {
  const u32 width = bytes(type);
  std::string name = written;
  if (name.size() > 2 && name[name.size() - 2] == '.' && has_parts(name.substr(0, name.size() - 2))) {
    constexpr std::string_view kColours = "rgba", kParts = "xyzw";
    if (const std::size_t colour = kColours.find(name.back()); colour != kColours.npos) name.back() = kParts[colour];
    if (name.back() == 'w' && row_is(draft, kTakesSpecial) && !is_float(type) && (width == 2 || width == 4)) {
      return {draft.body.out.constants.number(0, width)};  // the fourth is not used
    }
  }
  const auto known = [&](u32 size) { return name[0] == '%' && special_register_handler(name, size) != nullptr; };
  if (!known(0) && !known(4) && !known(8)) unknown(draft, name);
  if (!row_is(draft, kTakesSpecial) || is_float(type)) {
    fail(draft.at, "Special register argument not allowed for instruction '" + draft.source->opcode + "'");
  }
  const Handler handler = special_register_handler(name, width);
  if (handler == nullptr || !has_size(name, width)) mismatch(draft);
  reads_special(draft.body, name, draft.at);
  Instruction instruction;
  instruction.run = handler;
  instruction.slot[0] = temporary(draft.body, type);
  emit(draft.body, instruction, {}, {instruction.slot[0]});
  return {instruction.slot[0]};
}

// Whether it is a .samplerref variable, a separate operand in independent mode.
static bool names_sampler(const Draft& draft, const std::string& text) {
  const Symbol* symbol = symbol_of(draft, text);
  return symbol != nullptr && symbol->kind == Symbol::variable &&
         draft.body.link.variables[symbol->index].variable->type == Type::samplerref;
}

// address = address_of | indexed_address
//
// The address of a variable, parameter or function in its own state space, if there is one of that name, where the
// instruction takes one.
static std::optional<Value> address_value(const Draft& draft, const Operand& given, u32 bytes) {
  const Name& name = std::get<Name>(given.value);
  if (!row_is(draft, kTakesAddress) && !names_sampler(draft, name.text) &&
      (draft.body.names.find(name.text) || symbol_of(draft, name.text) != nullptr)) {
    fail(draft.at,
         "'" + Cursor::shown(name.text) + "' used in instruction '" + draft.source->opcode + "': must be register");
  }
  if (given.index_register.empty()) return address_of(draft, given, bytes);
  return Value{indexed_address(draft, given, bytes)};
}

// indexed_address = array "[" register ["+" number] "]"
//
// array[register], array[register + 1]: they count elements.
static Slot indexed_address(const Draft& draft, const Operand& given, u32 bytes) {
  const u32 size = element_size(draft, std::get<Name>(given.value).text);
  if (size == 0) fail(draft.at, "Array indexing on non-array");
  Operand symbol = given;
  symbol.index_register.clear();
  symbol.addend = 0;
  const std::optional<Reg> index = find_register(draft, given.index_register, "", given.at);
  if (!index) unknown(draft, given.index_register);
  const Handler handler = indexed_sum_handler(bytes, cudasim::bytes(index->type), is_signed(index->type));
  if (handler == nullptr || is_float(index->type)) mismatch(draft);
  const std::optional<Value> base = address_of(draft, symbol, bytes);
  if (!base) unknown(draft, std::get<Name>(given.value).text);
  Instruction sum;
  sum.run = handler;
  sum.slot[0] = temporary(draft.body, bytes == 8 ? Type::b64 : Type::b32);
  sum.slot[1] = base->slot;
  sum.slot[2] = index->id;
  sum.control = size;
  sum.offset = given.addend * static_cast<i64>(size);
  emit(draft.body, sum, {sum.slot[1], sum.slot[2]}, {sum.slot[0]});
  note_sum(draft.body, sum.slot[0], sum.slot[1], sum.slot[2]);
  return sum.slot[0];
}

// Bytes that an index counts in an array: those of its type, whatever vector its elements are; 0 if the name is not one
// of an array.
static u32 element_size(const Draft& draft, const std::string& text) {
  const auto of_variable = [](const Variable& variable) {
    return variable.dimensions.empty() ? 0 : bytes(variable.type);
  };
  if (const std::optional<Binding> binding = draft.body.names.find(text)) {
    if (binding->kind == Binding::variable) return of_variable(draft.body.function.variables[binding->index]);
    if (binding->kind != Binding::parameter && binding->kind != Binding::result) return 0;
    const auto& list = binding->kind == Binding::result ? draft.body.function.results : draft.body.function.parameters;
    return list[binding->index].is_array ? bytes(list[binding->index].type) : 0;
  }
  const Symbol* symbol = symbol_of(draft, text);
  if (symbol == nullptr) unknown(draft, text);
  return symbol->kind == Symbol::variable ? of_variable(*draft.body.link.variables[symbol->index].variable) : 0;
}

// address_of = name ["+" number] | array "[" number "]"
static std::optional<Value> address_of(const Draft& draft, const Operand& given, u32 bytes) {
  const Name& name = std::get<Name>(given.value);
  const auto sized = [&](bool any) {
    if (bytes != 8 && !(any && bytes == 4)) mismatch(draft);
  };
  const auto frame = [&](u32 local, i64 offset) -> Value {
    sized(true);
    Instruction instruction;
    instruction.run = local_address_handler(bytes);
    instruction.slot[0] = temporary(draft.body, bytes == 8 ? Type::b64 : Type::b32);
    instruction.offset = static_cast<i64>(local) + offset;
    emit(draft.body, instruction, {}, {instruction.slot[0]});
    return {instruction.slot[0]};
  };
  const auto of_linked = [&](u32 index, i64 offset) -> Value {
    const Variable& variable = *draft.body.link.variables[index].variable;
    sized(variable.space == Space::shared);
    if (variable.space != Space::shared) {
      if (variable.space == Space::constant) uses_constant(draft, variable, index);
      return {draft.body.out.constants.address({AddressOf::variable, index, static_cast<u64>(offset)}, bytes)};
    }
    return {shared_address(draft, index, offset, bytes)};
  };
  const auto within = [&](const Variable& variable) {
    const u64 element = u64{cudasim::bytes(variable.type)} * variable.vector;
    return static_cast<i64>(static_cast<u64>(given.addend) + static_cast<u64>(given.index) * element);
  };
  if (const std::optional<Binding> binding = draft.body.names.find(name.text)) {
    if (binding->kind == Binding::variable) {
      const Variable& variable = draft.body.function.variables[binding->index];
      const bool in_frame = variable.space == Space::local || variable.space == Space::param;
      if (variable.space == Space::param)
        fail(draft.at, "Illegal to take address of parameter '" + variable.name + "'");
      if (in_frame) return frame(draft.body.local[binding->index], within(variable));
      return of_linked(draft.body.local[binding->index], within(variable));
    }
    const bool result = binding->kind == Binding::result;
    if (!draft.body.function.is_entry)
      return frame((result ? draft.body.result_local : draft.body.parameter_local)[binding->index], given.addend);
    sized(true);
    const u64 offset = draft.body.out.code->parameters[binding->index].offset + static_cast<u64>(given.addend);
    return Value{draft.body.out.constants.number(offset, bytes)};
  }
  const Symbol* symbol = symbol_of(draft, name.text);
  if (symbol == nullptr) return std::nullopt;
  if (symbol->kind == Symbol::variable) {
    return of_linked(symbol->index, within(*draft.body.link.variables[symbol->index].variable));
  }
  sized(false);
  const LinkedFunction& function = draft.body.link.functions[symbol->index];
  if (!function.defined) fail(draft.at, "Unresolved extern function '" + Cursor::shown(name.text) + "'");
  if (given.addend != 0) {
    fail(draft.at, "Cannot take address of function '" + Cursor::shown(name.text) + "' in arithmetic expressions");
  }
  draft.body.out.addresses_taken.push_back(function.index);
  note_narrow(draft.body, function.function->results, function.function->parameters, draft.at);
  return Value{
      draft.body.out.constants.address({AddressOf::function, function.index, static_cast<u64>(given.addend)}, bytes)};
}

// --- Memory operands -------------------------------------------------------------------------------------------------

static void based_on(Draft& draft, Slot slot, u32 bytes) {
  draft.form.address_bytes = bytes;
  if (draft.memories <= 1) draft.base = slot;
  set_width(draft, bytes);
  draft.slots.push_back(slot);
  draft.written.push_back(false);
  draft.addresses.push_back(slot);
}

// An instruction has room for one memory operand's offset: those of the others (cp.async, mbarrier's transactions) are
// added beforehand. Their state spaces are those of the variables that they name.
void further_memory(Draft& draft, const Operand& given) {
  const i64 offset = draft.instruction.offset;
  const AddressOf offset_of = draft.offset_of;
  const Space space = draft.form.space;
  const u32 address_bytes = draft.form.address_bytes;
  draft.offset_of = {};
  memory(draft, given);
  const Slot base = draft.slots.back();
  const bool narrow = draft.form.address_bytes == 4;
  if (base == kNoSlot || draft.instruction.offset != 0 || draft.offset_of.kind != AddressOf::none) {
    Instruction sum;
    sum.run = sum_handler(draft.form.address_bytes);
    sum.slot[0] = temporary(draft.body, narrow ? Type::b32 : Type::b64);
    sum.slot[1] = base;
    sum.offset = draft.instruction.offset;
    const u32 at = emit(draft.body, sum, {base}, {sum.slot[0]});
    if (draft.offset_of.kind != AddressOf::none) draft.body.out.fixups.push_back({at, draft.offset_of});
    draft.slots.back() = draft.addresses.back() = sum.slot[0];
  }
  draft.instruction.offset = offset;
  draft.offset_of = offset_of;
  draft.form.space = space;
  draft.form.address_bytes = address_bytes;
}

// memory = "[" (register | name | number) ["+" number] "]" | indexed_address
//
// Long because each kind of name between the brackets has rules and errors of its own.
void memory(Draft& draft, const Operand& given) {
  // array[1] without brackets is an address too.
  const Address* address = std::get_if<Address>(&given.value);
  Address bare;
  if (address == nullptr) {
    const Name* name = std::get_if<Name>(&given.value);
    if (name == nullptr || given.is_vector || given.negated) mismatch(draft);
    if (!given.index_register.empty()) return memory_at_index(draft, given);
    if (!given.indexed) mismatch(draft);
    bare = {name->text, given.addend};
    address = &bare;
  }
  // A register that may hold the address of a parameter: in device functions those are in the frame.
  if (address->base.empty()) {
    if (draft.form.space != Space::local) fail(draft.at, "Immediate addresses allowed only for .local state space");
    draft.instruction.offset = address->offset;
    return based_on(draft, kNoSlot, 8);
  }
  const std::size_t dot = address->base.find('.');
  const std::string base = address->base.substr(0, dot);
  const std::string part = dot == std::string::npos ? "" : address->base.substr(dot + 1);
  if (const std::optional<Reg> reg = find_register(draft, base, part, given.at)) {
    if (given.index != 0 || is_float(reg->type) || (bytes(reg->type) != 4 && bytes(reg->type) != 8)) mismatch(draft);
    draft.instruction.offset = address->offset;
    const bool entry_space = draft.form.has("param::entry");
    if (draft.form.space == Space::param &&
        (draft.stores || !draft.body.function.is_entry || draft.form.has("param::func")) && !entry_space) {
      draft.form.space = Space::local;
    }
    return based_on(draft, take_index(draft, reg->id), bytes(reg->type));
  }
  const std::optional<Binding> binding = draft.body.names.find(base);
  if (binding && binding->kind == Binding::variable) {
    const Variable& variable = draft.body.function.variables[binding->index];
    const u64 element = u64{bytes(variable.type)} * variable.vector;
    const i64 offset = static_cast<i64>(static_cast<u64>(address->offset) + static_cast<u64>(given.index) * element);
    return memory_of_variable(draft, variable, draft.body.local[binding->index], offset);
  }
  if (binding) {
    const bool result = binding->kind == Binding::result;
    const Parameter& own = (result ? draft.body.function.results : draft.body.function.parameters)[binding->index];
    const i64 offset = address->offset + given.index * static_cast<i64>(bytes(own.type));
    if (!result && is_opaque(draft.body.function.parameters[binding->index].type))
      fail(draft.at, std::string("Kernel parameters of type .") +
                         name(draft.body.function.parameters[binding->index].type) + " are not simulated");
    if (draft.form.space != Space::param) {
      fail(draft.at,
           "State space mismatch between instruction and address in instruction '" + draft.source->opcode + "'");
    }
    if (!result && draft.stores) fail(draft.at, "Illegal to write to function input parameter '" + base + "'");
    if (result && !draft.stores) fail(draft.at, "Illegal to read function return parameter '" + base + "'");
    if (!draft.body.function.is_entry) {
      return memory_of_local(draft, (result ? draft.body.result_local : draft.body.parameter_local)[binding->index],
                             offset);
    }
    draft.instruction.offset = static_cast<i64>(draft.body.out.code->parameters[binding->index].offset) + offset;
    return based_on(draft, kNoSlot, 8);
  }
  const Symbol* symbol = symbol_of(draft, base);
  if (symbol == nullptr) unknown(draft, address->base);
  if (symbol->kind != Symbol::variable) mismatch(draft);
  const Variable& variable = *draft.body.link.variables[symbol->index].variable;
  const u64 element = u64{bytes(variable.type)} * variable.vector;
  const i64 offset = static_cast<i64>(static_cast<u64>(address->offset) + static_cast<u64>(given.index) * element);
  memory_of_variable(draft, variable, symbol->index, offset);
}

// symbol[register] as a memory operand.
static void memory_at_index(Draft& draft, const Operand& given) {
  const std::string& text = std::get<Name>(given.value).text;
  const std::optional<Binding> binding = draft.body.names.find(text);
  const Symbol* symbol = binding ? nullptr : symbol_of(draft, text);
  if (!binding && symbol == nullptr) unknown(draft, text);
  if (binding ? binding->kind == Binding::reg : symbol->kind != Symbol::variable) mismatch(draft);
  const Variable* variable = symbol != nullptr                    ? draft.body.link.variables[symbol->index].variable
                             : binding->kind == Binding::variable ? &draft.body.function.variables[binding->index]
                                                                  : nullptr;
  const Space own = variable == nullptr ? Space::param : variable->space;
  Space& space = draft.form.space;
  const bool generic = space == Space::generic && own != Space::constant && own != Space::param;
  if (!generic && own != (space == Space::shared_cluster ? Space::shared : space)) {
    fail(draft.at,
         "State space mismatch between instruction and address in instruction '" + draft.source->opcode + "'");
  }
  if (variable != nullptr && is_opaque(variable->type)) mismatch(draft);
  draft.instruction.offset = 0;
  if (generic && own != Space::global)
    draft.instruction.offset += static_cast<i64>(own == Space::shared ? kSharedWindow : kLocalWindow);
  if (space == Space::param && !draft.body.function.is_entry) space = Space::local;
  based_on(draft, indexed_address(draft, given, 8), 8);
}

static void memory_of_local(Draft& draft, u32 local, i64 offset) {
  draft.form.space = Space::local;
  draft.instruction.offset = static_cast<i64>(local) + offset;
  based_on(draft, kNoSlot, 8);
}

static void uses_constant(const Draft& draft, const Variable& variable, u32 index) {
  if (variable.bank != 0)
    draft.body.link.errors.push_back({Diagnostic::unsupported, draft.at, unknown_bank(variable.bank)});
  draft.body.out.constants_used.push_back(index);
}

static void memory_of_variable(Draft& draft, const Variable& variable, u32 index, i64 offset) {
  Space space = draft.form.space;
  if (space == Space::shared_cluster) space = Space::shared;
  if (draft.memories > 1) space = variable.space;
  const bool generic = space == Space::generic;
  const bool never_generic = variable.space == Space::constant || variable.space == Space::param;
  if (generic ? never_generic : space != variable.space) {
    fail(draft.at,
         "State space mismatch between instruction and address in instruction '" + draft.source->opcode + "'");
  }
  draft.instruction.offset = offset;
  switch (variable.space) {
    case Space::local:
    case Space::param:
      if (!generic) return memory_of_local(draft, index, offset);
      break;
    case Space::shared:
      if (draft.body.function.is_entry && draft.form.space == Space::shared && draft.memories == 1 &&
          row_is(draft, kSharedOffset)) {
        draft.body.out.shared.push_back(index);
        draft.offset_of = {AddressOf::shared, index, 0};
        return based_on(draft, kNoSlot, 8);
      }
      break;
    case Space::constant: uses_constant(draft, variable, index); [[fallthrough]];
    default:
      if (is_opaque(variable.type)) break;
      draft.offset_of = {AddressOf::variable, index, 0};
      return based_on(draft, kNoSlot, 8);
  }
  if (is_opaque(variable.type)) {
    draft.offset_of = {AddressOf::variable, index, 0};
    return based_on(draft, kNoSlot, 8);
  }
  // What is left has an address that only the executor knows.
  if (generic)
    draft.instruction.offset += static_cast<i64>(variable.space == Space::shared ? kSharedWindow : kLocalWindow);
  if (variable.space == Space::shared) return based_on(draft, shared_address(draft, index, 0, 8), 8);
  Instruction instruction;
  instruction.slot[0] = temporary(draft.body, Type::b64);
  instruction.run = local_address_handler(8);
  instruction.offset = index;
  emit(draft.body, instruction, {}, {instruction.slot[0]});
  based_on(draft, instruction.slot[0], 8);
}

// A register with the address of a shared variable, in which the rank of the executing block is.
static Slot shared_address(const Draft& draft, u32 index, i64 offset, u32 bytes) {
  draft.body.out.shared.push_back(index);
  Instruction instruction;
  instruction.slot[0] = temporary(draft.body, bytes == 8 ? Type::b64 : Type::b32);
  instruction.offset = offset;
  if (draft.body.function.is_entry) {
    instruction.run = own_shared_address_handler(bytes);
  } else {
    instruction.run = shared_address_handler(bytes);
    instruction.target = index;
  }
  const u32 at = emit(draft.body, instruction, {}, {instruction.slot[0]});
  if (draft.body.function.is_entry) draft.body.out.fixups.push_back({at, {AddressOf::shared, index, 0}});
  note_made_of(draft.body, instruction.slot[0], index);
  return instruction.slot[0];
}

}  // namespace cudasim::ptx
