// What an operand names: a register, a number, a special register, an address, a place in memory.
#include "common/simulator/ptx/resolver.hpp"

namespace cudasim::ptx {
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
Resolver::Value Resolver::value(const Operand& given, Type type, bool wider, u32* width, bool in_vector, bool named) {
  if (width != nullptr) *width = bytes(type);
  if (given.is_vector) mismatch();
  if (const Immediate* number = std::get_if<Immediate>(&given.value)) {
    const std::optional<u64> bits = convert_immediate(*number, type);
    if (!bits || given.negated) mismatch();
    return {out_.constants.number(*bits, bytes(type))};
  }
  const Name* from = std::get_if<Name>(&given.value);
  if (from == nullptr) mismatch();
  if (const std::optional<Reg> reg = find_register(given)) {
    if (given.index != 0) mismatch();
    if (!fits(type, reg->type, wider, in_vector, named)) mismatch();
    if (width != nullptr) *width = bytes(reg->type);
    if (given.addend != 0) return {sum_of(*reg, given.addend, type, in_vector)};
    if (!given.negated) return {reg->id};
    if (type != Type::pred) fail(at_, "Illegal argument to predicate negation");
    Instruction instruction;
    instruction.run = run_not_predicate;
    instruction.slot[0] = temporary(Type::pred);
    instruction.slot[1] = reg->id;
    emit(instruction, {reg->id}, {instruction.slot[0]});
    return {instruction.slot[0]};
  }
  if (given.negated) mismatch();
  if (const std::optional<Value> address = address_value(given, bytes(type))) {
    if (is_float(type) || type == Type::pred) mismatch();
    return *address;
  }
  const std::string full = from->selector.empty() ? from->text : from->text + "." + from->selector;
  return special_register(full, type);
}

// register + number where a number is expected.
Slot Resolver::sum_of(const Reg& reg, i64 addend, Type type, bool in_vector) {
  Instruction sum;
  sum.run = sum_handler(bytes(reg.type));
  if (sum.run == nullptr || in_vector || is_float(type) || is_float(reg.type)) mismatch();
  sum.slot[0] = temporary(reg.type);
  sum.slot[1] = reg.id;
  sum.offset = addend;
  emit(sum, {reg.id}, {sum.slot[0]});
  note_sum(sum.slot[0], reg.id, kNoSlot);
  return sum.slot[0];
}

// Whether the text's version and target have the register, and what the kernel needs for it.
void Resolver::reads_special(const std::string& name, Position at) {
  const Since since = special_register_since(name);
  const std::string what = "Feature '" + std::string(since.name) + "' requires ";
  if (module_.version() < since.ptx) {
    fail(at, what + "PTX ISA .version " + std::to_string(since.ptx / 10) + "." + std::to_string(since.ptx % 10) +
                 " or later");
  }
  if (module_.target < since.target) fail(at, what + ".target sm_" + std::to_string(since.target) + " or higher");
  out_.reserved_shared |= tells_of_reserved_shared(name);
}

Resolver::Value Resolver::special_register(const std::string& written, Type type) {
  const u32 width = bytes(type);
  std::string name = written;
  if (name.size() > 2 && name[name.size() - 2] == '.' && has_parts(name.substr(0, name.size() - 2))) {
    constexpr std::string_view kColours = "rgba", kParts = "xyzw";
    if (const std::size_t colour = kColours.find(name.back()); colour != kColours.npos) name.back() = kParts[colour];
    if (name.back() == 'w' && row_is(kTakesSpecial) && !is_float(type) && (width == 2 || width == 4)) {
      return {out_.constants.number(0, width)};  // the fourth is not used
    }
  }
  const auto known = [&](u32 size) { return name[0] == '%' && special_register_handler(name, size) != nullptr; };
  if (!known(0) && !known(4) && !known(8)) unknown(name);
  if (!row_is(kTakesSpecial) || is_float(type)) {
    fail(at_, "Special register argument not allowed for instruction '" + current_->opcode + "'");
  }
  const Handler handler = special_register_handler(name, width);
  if (handler == nullptr || !has_size(name, width)) mismatch();
  reads_special(name, at_);
  Instruction instruction;
  instruction.run = handler;
  instruction.slot[0] = temporary(type);
  emit(instruction, {}, {instruction.slot[0]});
  return {instruction.slot[0]};
}

// Whether it is a .samplerref variable, a separate operand in independent mode.
bool Resolver::names_sampler(const std::string& text) const {
  const Symbol* symbol = symbol_of(text);
  return symbol != nullptr && symbol->kind == Symbol::variable &&
         link_.variables[symbol->index].variable->type == Type::samplerref;
}

// The address of a variable, parameter or function in its own state space, if there is one of that name, where the
// instruction takes one.
std::optional<Resolver::Value> Resolver::address_value(const Operand& given, u32 bytes) {
  const Name& name = std::get<Name>(given.value);
  if (!row_is(kTakesAddress) && !names_sampler(name.text) &&
      (names_.find(name.text) || symbol_of(name.text) != nullptr)) {
    fail(at_, "'" + Cursor::shown(name.text) + "' used in instruction '" + current_->opcode + "': must be register");
  }
  if (given.index_register.empty()) return address_of(given, bytes);
  return Value{indexed_address(given, bytes)};
}

// array[register], array[register + 1]: they count elements.
Slot Resolver::indexed_address(const Operand& given, u32 bytes) {
  const u32 size = element_size(std::get<Name>(given.value).text);
  if (size == 0) fail(at_, "Array indexing on non-array");
  Operand symbol = given;
  symbol.index_register.clear();
  symbol.addend = 0;
  const std::optional<Reg> index = find_register(given.index_register, "", given.at);
  if (!index) unknown(given.index_register);
  const Handler handler = indexed_sum_handler(bytes, cudasim::bytes(index->type), is_signed(index->type));
  if (handler == nullptr || is_float(index->type)) mismatch();
  const std::optional<Value> base = address_of(symbol, bytes);
  if (!base) unknown(std::get<Name>(given.value).text);
  Instruction sum;
  sum.run = handler;
  sum.slot[0] = temporary(bytes == 8 ? Type::b64 : Type::b32);
  sum.slot[1] = base->slot;
  sum.slot[2] = index->id;
  sum.control = size;
  sum.offset = given.addend * static_cast<i64>(size);
  emit(sum, {sum.slot[1], sum.slot[2]}, {sum.slot[0]});
  note_sum(sum.slot[0], sum.slot[1], sum.slot[2]);
  return sum.slot[0];
}

// Bytes that an index counts in an array: those of its type, whatever vector its elements are; 0 if the name is not one
// of an array.
u32 Resolver::element_size(const std::string& text) const {
  const auto of_variable = [](const Variable& variable) {
    return variable.dimensions.empty() ? 0 : bytes(variable.type);
  };
  if (const std::optional<Binding> binding = names_.find(text)) {
    if (binding->kind == Binding::variable) return of_variable(function_.variables[binding->index]);
    if (binding->kind != Binding::parameter && binding->kind != Binding::result) return 0;
    const auto& list = binding->kind == Binding::result ? function_.results : function_.parameters;
    return list[binding->index].is_array ? bytes(list[binding->index].type) : 0;
  }
  const Symbol* symbol = symbol_of(text);
  if (symbol == nullptr) unknown(text);
  return symbol->kind == Symbol::variable ? of_variable(*link_.variables[symbol->index].variable) : 0;
}

std::optional<Resolver::Value> Resolver::address_of(const Operand& given, u32 bytes) {
  const Name& name = std::get<Name>(given.value);
  const auto sized = [&](bool any) {
    if (bytes != 8 && !(any && bytes == 4)) mismatch();
  };
  const auto frame = [&](u32 local, i64 offset) -> Value {
    sized(true);
    Instruction instruction;
    instruction.run = local_address_handler(bytes);
    instruction.slot[0] = temporary(bytes == 8 ? Type::b64 : Type::b32);
    instruction.offset = static_cast<i64>(local) + offset;
    emit(instruction, {}, {instruction.slot[0]});
    return {instruction.slot[0]};
  };
  const auto of_linked = [&](u32 index, i64 offset) -> Value {
    const Variable& variable = *link_.variables[index].variable;
    sized(variable.space == Space::shared);
    if (variable.space != Space::shared) {
      if (variable.space == Space::constant) uses_constant(variable, index);
      return {out_.constants.address({AddressOf::variable, index, static_cast<u64>(offset)}, bytes)};
    }
    return {shared_address(index, offset, bytes)};
  };
  const auto within = [&](const Variable& variable) {
    const u64 element = u64{cudasim::bytes(variable.type)} * variable.vector;
    return static_cast<i64>(static_cast<u64>(given.addend) + static_cast<u64>(given.index) * element);
  };
  if (const std::optional<Binding> binding = names_.find(name.text)) {
    if (binding->kind == Binding::variable) {
      const Variable& variable = function_.variables[binding->index];
      const bool in_frame = variable.space == Space::local || variable.space == Space::param;
      if (variable.space == Space::param) fail(at_, "Illegal to take address of parameter '" + variable.name + "'");
      if (in_frame) return frame(local_[binding->index], within(variable));
      return of_linked(local_[binding->index], within(variable));
    }
    const bool result = binding->kind == Binding::result;
    if (!function_.is_entry) return frame((result ? result_local_ : parameter_local_)[binding->index], given.addend);
    sized(true);
    const u64 offset = out_.code->parameters[binding->index].offset + static_cast<u64>(given.addend);
    return Value{out_.constants.number(offset, bytes)};
  }
  const Symbol* symbol = symbol_of(name.text);
  if (symbol == nullptr) return std::nullopt;
  if (symbol->kind == Symbol::variable) {
    return of_linked(symbol->index, within(*link_.variables[symbol->index].variable));
  }
  sized(false);
  const LinkedFunction& function = link_.functions[symbol->index];
  if (!function.defined) fail(at_, "Unresolved extern function '" + Cursor::shown(name.text) + "'");
  if (given.addend != 0) {
    fail(at_, "Cannot take address of function '" + Cursor::shown(name.text) + "' in arithmetic expressions");
  }
  out_.addresses_taken.push_back(function.index);
  note_narrow(function.function->results, function.function->parameters, at_);
  return Value{out_.constants.address({AddressOf::function, function.index, static_cast<u64>(given.addend)}, bytes)};
}

// --- Memory operands -------------------------------------------------------------------------------------------------

void Resolver::based_on(Draft& draft, Slot slot, u32 bytes) {
  draft.form.address_bytes = bytes;
  if (draft.memories <= 1) draft.base = slot;
  set_width(draft, bytes);
  draft.slots.push_back(slot);
  draft.written.push_back(false);
}

// An instruction has room for one memory operand's offset: those of the others (cp.async, mbarrier's transactions) are
// added beforehand. Their state spaces are those of the variables that they name.
void Resolver::further_memory(Draft& draft, const Operand& given) {
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
    sum.slot[0] = temporary(narrow ? Type::b32 : Type::b64);
    sum.slot[1] = base;
    sum.offset = draft.instruction.offset;
    const u32 at = emit(sum, {base}, {sum.slot[0]});
    if (draft.offset_of.kind != AddressOf::none) out_.fixups.push_back({at, draft.offset_of});
    draft.slots.back() = sum.slot[0];
  }
  draft.instruction.offset = offset;
  draft.offset_of = offset_of;
  draft.form.space = space;
  draft.form.address_bytes = address_bytes;
}

// Long because each kind of name between the brackets has rules and errors of its own.
void Resolver::memory(Draft& draft, const Operand& given) {
  // array[1] without brackets is an address too.
  const Address* address = std::get_if<Address>(&given.value);
  Address bare;
  if (address == nullptr) {
    const Name* name = std::get_if<Name>(&given.value);
    if (name == nullptr || given.is_vector || given.negated) mismatch();
    if (!given.index_register.empty()) return memory_at_index(draft, given);
    if (!given.indexed) mismatch();
    bare = {name->text, given.addend};
    address = &bare;
  }
  // A register that may hold the address of a parameter: in device functions those are in the frame.
  if (address->base.empty()) {
    if (draft.form.space != Space::local) fail(at_, "Immediate addresses allowed only for .local state space");
    draft.instruction.offset = address->offset;
    return based_on(draft, kNoSlot, 8);
  }
  const std::size_t dot = address->base.find('.');
  const std::string base = address->base.substr(0, dot);
  const std::string part = dot == std::string::npos ? "" : address->base.substr(dot + 1);
  if (const std::optional<Reg> reg = find_register(base, part, given.at)) {
    if (given.index != 0 || is_float(reg->type) || (bytes(reg->type) != 4 && bytes(reg->type) != 8)) mismatch();
    draft.instruction.offset = address->offset;
    const bool entry_space = draft.form.has("param::entry");
    if (draft.form.space == Space::param && (draft.stores || !function_.is_entry || draft.form.has("param::func")) &&
        !entry_space) {
      draft.form.space = Space::local;
    }
    return based_on(draft, take_index(draft, reg->id), bytes(reg->type));
  }
  const std::optional<Binding> binding = names_.find(base);
  if (binding && binding->kind == Binding::variable) {
    const Variable& variable = function_.variables[binding->index];
    const u64 element = u64{bytes(variable.type)} * variable.vector;
    const i64 offset = static_cast<i64>(static_cast<u64>(address->offset) + static_cast<u64>(given.index) * element);
    return memory_of_variable(draft, variable, local_[binding->index], offset);
  }
  if (binding) {
    const bool result = binding->kind == Binding::result;
    const Parameter& own = (result ? function_.results : function_.parameters)[binding->index];
    const i64 offset = address->offset + given.index * static_cast<i64>(bytes(own.type));
    if (!result && is_opaque(function_.parameters[binding->index].type))
      fail(at_, std::string("Kernel parameters of type .") + name(function_.parameters[binding->index].type) +
                    " are not simulated");
    if (draft.form.space != Space::param) {
      fail(at_, "State space mismatch between instruction and address in instruction '" + current_->opcode + "'");
    }
    if (!result && draft.stores) fail(at_, "Illegal to write to function input parameter '" + base + "'");
    if (result && !draft.stores) fail(at_, "Illegal to read function return parameter '" + base + "'");
    if (!function_.is_entry) {
      return memory_of_local(draft, (result ? result_local_ : parameter_local_)[binding->index], offset);
    }
    draft.instruction.offset = static_cast<i64>(out_.code->parameters[binding->index].offset) + offset;
    return based_on(draft, kNoSlot, 8);
  }
  const Symbol* symbol = symbol_of(base);
  if (symbol == nullptr) unknown(address->base);
  if (symbol->kind != Symbol::variable) mismatch();
  const Variable& variable = *link_.variables[symbol->index].variable;
  const u64 element = u64{bytes(variable.type)} * variable.vector;
  const i64 offset = static_cast<i64>(static_cast<u64>(address->offset) + static_cast<u64>(given.index) * element);
  memory_of_variable(draft, variable, symbol->index, offset);
}

// symbol[register] as a memory operand.
void Resolver::memory_at_index(Draft& draft, const Operand& given) {
  const std::string& text = std::get<Name>(given.value).text;
  const std::optional<Binding> binding = names_.find(text);
  const Symbol* symbol = binding ? nullptr : symbol_of(text);
  if (!binding && symbol == nullptr) unknown(text);
  if (binding ? binding->kind == Binding::reg : symbol->kind != Symbol::variable) mismatch();
  const Variable* variable = symbol != nullptr                    ? link_.variables[symbol->index].variable
                             : binding->kind == Binding::variable ? &function_.variables[binding->index]
                                                                  : nullptr;
  const Space own = variable == nullptr ? Space::param : variable->space;
  Space& space = draft.form.space;
  const bool generic = space == Space::generic && own != Space::constant && own != Space::param;
  if (!generic && own != (space == Space::shared_cluster ? Space::shared : space)) {
    fail(at_, "State space mismatch between instruction and address in instruction '" + current_->opcode + "'");
  }
  if (variable != nullptr && is_opaque(variable->type)) mismatch();
  draft.instruction.offset = 0;
  if (generic && own != Space::global)
    draft.instruction.offset += static_cast<i64>(own == Space::shared ? kSharedWindow : kLocalWindow);
  if (space == Space::param && !function_.is_entry) space = Space::local;
  based_on(draft, indexed_address(given, 8), 8);
}

void Resolver::memory_of_local(Draft& draft, u32 local, i64 offset) {
  draft.form.space = Space::local;
  draft.instruction.offset = static_cast<i64>(local) + offset;
  based_on(draft, kNoSlot, 8);
}

void Resolver::uses_constant(const Variable& variable, u32 index) {
  if (variable.bank != 0) link_.errors.push_back({Diagnostic::unsupported, at_, unknown_bank(variable.bank)});
  out_.constants_used.push_back(index);
}

void Resolver::memory_of_variable(Draft& draft, const Variable& variable, u32 index, i64 offset) {
  Space space = draft.form.space;
  if (space == Space::shared_cluster) space = Space::shared;
  if (draft.memories > 1) space = variable.space;
  const bool generic = space == Space::generic;
  const bool never_generic = variable.space == Space::constant || variable.space == Space::param;
  if (generic ? never_generic : space != variable.space) {
    fail(at_, "State space mismatch between instruction and address in instruction '" + current_->opcode + "'");
  }
  draft.instruction.offset = offset;
  switch (variable.space) {
    case Space::local:
    case Space::param:
      if (!generic) return memory_of_local(draft, index, offset);
      break;
    case Space::shared:
      if (function_.is_entry && draft.form.space == Space::shared && draft.memories == 1 && row_is(kSharedOffset)) {
        out_.shared.push_back(index);
        draft.offset_of = {AddressOf::shared, index, 0};
        return based_on(draft, kNoSlot, 8);
      }
      break;
    case Space::constant: uses_constant(variable, index); [[fallthrough]];
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
  if (variable.space == Space::shared) return based_on(draft, shared_address(index, 0, 8), 8);
  Instruction instruction;
  instruction.slot[0] = temporary(Type::b64);
  instruction.run = local_address_handler(8);
  instruction.offset = index;
  emit(instruction, {}, {instruction.slot[0]});
  based_on(draft, instruction.slot[0], 8);
}

// A register with the address of a shared variable, in which the rank of the executing block is.
Slot Resolver::shared_address(u32 index, i64 offset, u32 bytes) {
  out_.shared.push_back(index);
  Instruction instruction;
  instruction.slot[0] = temporary(bytes == 8 ? Type::b64 : Type::b32);
  instruction.offset = offset;
  if (function_.is_entry) {
    instruction.run = own_shared_address_handler(bytes);
  } else {
    instruction.run = shared_address_handler(bytes);
    instruction.target = index;
  }
  const u32 at = emit(instruction, {}, {instruction.slot[0]});
  if (function_.is_entry) out_.fixups.push_back({at, {AddressOf::shared, index, 0}});
  note_made_of(instruction.slot[0], index);
  return instruction.slot[0];
}

}  // namespace cudasim::ptx
