// Turns a function's statements into instructions: in which order what is done, declarations, registers, and what comes
// out. Source: PTX ISA, "Type information for instructions and operands", "Operand size exceeding instruction-type
// size".
//
// Registers are numbered as they are met; when all instructions stand, registers whose intervals do not overlap get the
// same slot, so that a warp's frame stays in the cache.
#include "common/simulator/ptx/resolve.hpp"

#include "common/simulator/numbers.hpp"
#include "common/simulator/ptx/resolver.hpp"

namespace cudasim::ptx {
namespace {

constexpr u32 kFrameAlign = 16;
constexpr u64 kLargestParameter = u64{512} << 10;  // bytes

}  // namespace

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

Resolved Resolver::run() {
  Code& code = *out_.code;
  code.name = function_.name;
  try {
    lay_out_parameters();
    enter_variables();
  } catch (const Failure& failure) {
    link_.errors.push_back({Diagnostic::syntax, failure.at, failure.message});
    return std::move(out_);
  }
  register_ids_.resize(function_.registers.size());
  table_of_.assign(function_.tables.size(), kUnset);
  if (function_.is_entry && notes_ == nullptr) count_writes();
  first_.reserve(function_.statements.size() + 1);
  code.statements.reserve(function_.statements.size() + 1);
  code.instructions.reserve(function_.statements.size() + 1);
  auto label = function_.labels.begin();
  for (const Statement& each : function_.statements) {
    const u32 number = static_cast<u32>(first_.size());
    first_.push_back(static_cast<u32>(code.instructions.size()));
    for (; label != function_.labels.end() && label->statement <= number; ++label) straight_since_ = first_.back();
    SourceLine source = each.source;
    if (source.file != 0) source.file += file_base_;
    if (source.outer_file != 0) source.outer_file += file_base_;
    code.statements.push_back({each.at.line, source});
    current_ = &each;
    at_ = each.at;
    names_.enter(each.scope);
    try {
      statement(each);
    } catch (const Failure& failure) {
      link_.errors.push_back({Diagnostic::syntax, failure.at, failure.message});
    }
    if (notes_ != nullptr) note(each);
  }
  first_.push_back(static_cast<u32>(code.instructions.size()));
  finish();
  return std::move(out_);
}

void Resolver::statement(const Statement& written) {
  row_ = nullptr;
  const std::optional<Statement> modern =
      module_.target < 20 || module_.version() < 40 ? of_old(written) : std::nullopt;
  const Statement& s = modern ? *modern : written;
  if (s.opcode == "bra") return branch(s);
  if (s.opcode == "brx") return branch_indexed(s);
  if (s.opcode == "ret") return leave(s);
  if (s.opcode == "call") return call(s);
  const Match found = match(s.opcode, s.modifiers);
  row_ = found.row;
  if (s.opcode == "cvta" && renames(s)) return;
  if (!is_known_before(s, found) && !(s.opcode == "mov" && special_mov(s))) by_row(s, found);
  if (loads_parameter(s)) of_parameters_.insert(std::get<Name>(s.operands[0].value).text);
}

std::string Resolver::mnemonic() const {
  std::string text = current_->opcode;
  for (const std::string& modifier : current_->modifiers) text += "." + modifier;
  return text;
}

// By name, whatever the scope: to count too many does no harm.
void Resolver::count_writes() {
  for (const Statement& s : function_.statements) {
    if (!s.operands.empty()) count_writes(s.operands[0]);
  }
}
void Resolver::count_writes(const Operand& operand) {
  if (const Name* name = std::get_if<Name>(&operand.value)) ++writes_[name->text];
  for (const Operand& each : operand.elements) count_writes(each);
  if (operand.pair != nullptr) count_writes(*operand.pair);
}

// --- Declarations ----------------------------------------------------------------------------------------------------

// The size of a device function's parameter in memory: whole words, as in the registers of a GPU. LLVM stores a word
// into a parameter of two bytes.
u32 handed_over(u64 size, u32 align) { return static_cast<u32>(align % 4 == 0 ? round_up(size, 4) : size); }

// The value of CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES on an H200. The stack pointer is a multiple of 16, so a larger
// alignment needs extra bytes.
u32 as_on_the_stack(u64 bytes, u32 align) {
  return static_cast<u32>(round_up(bytes, std::max(align, 8u)) + (align > 16 ? align - 16 : 0));
}

u32 Resolver::place_local(u64 size, u32 align, Position at) {
  Code& code = *out_.code;
  const u64 offset = round_up(code.local_bytes, align);
  if (offset + size > kLargestFrame) fail(at, "Function '" + function_.name + "' uses too much local data");
  code.local_bytes = static_cast<u32>(offset + size);
  return static_cast<u32>(offset);
}

void Resolver::lay_out_parameters() {
  Code& code = *out_.code;
  u64 offset = 0;
  const auto place = [&](const Parameter& parameter, u32 index, bool result) {
    Code::Parameter placed;
    placed.in_register = parameter.in_register;
    placed.size = static_cast<u32>(parameter.size);
    placed.align = parameter.align;
    u32 local = kUnset;
    if (parameter.size > kLargestParameter) fail(parameter.at, "Parameter '" + parameter.name + "' is too large");
    if (parameter.in_register) {
      // The elements of a vector are handed over one by one.
      const u32 id = temporary(parameter.type);
      parameter_registers_[u64{index} * 2 + (result ? 1 : 0)] = id;
      placed.slot = id;
      placed.size = bytes(parameter.type);
      for (u32 i = 1; i < parameter.vector; ++i) {
        (result ? code.results : code.parameters).push_back(placed);
        placed.slot = temporary(parameter.type);
      }
    } else if (function_.is_entry) {
      offset = round_up(offset, parameter.align);
      placed.offset = static_cast<u32>(offset);
      offset += parameter.size;
    } else {
      placed.size = handed_over(parameter.size, parameter.align);
      local = place_local(placed.size, parameter.align, parameter.at);
      placed.local = local;
    }
    (result ? result_local_ : parameter_local_).push_back(local);
    (result ? code.results : code.parameters).push_back(placed);
  };
  for (u32 i = 0; i < function_.parameters.size(); ++i) place(function_.parameters[i], i, false);
  for (u32 i = 0; i < function_.results.size(); ++i) place(function_.results[i], i, true);
  // PTX ISA, "Kernel Function Parameters".
  const u64 limit = module_.version() >= 81 ? 32764 : 4352;
  if (function_.is_entry && offset > 4352 && offset <= limit && module_.target < 70) {
    fail(function_.at, "Feature 'Kernel parameter size larger than 4352 bytes' requires .target sm_70 or higher");
  }
  if (function_.is_entry && offset > limit) {
    fail(function_.at, "Entry function '" + function_.name + "' uses too much parameter space (" +
                           std::to_string(offset) + " bytes, " + std::to_string(limit) + " max)");
  }
  out_.parameter_bytes = static_cast<u32>(offset);
}

// .local and .param variables are in the frame; the others join those of the module.
void Resolver::enter_variables() {
  for (const Variable& variable : function_.variables) {
    if (variable.space == Space::local || variable.space == Space::param) {
      const bool handed = variable.space == Space::param;
      u32& own = out_.code->variable_bytes;
      if (!handed) {
        own = static_cast<u32>(round_up(own, variable.align) + variable.size);
        variable_align_ = std::max(variable_align_, variable.align);
      }
      local_.push_back(place_local(handed ? handed_over(variable.size, variable.align) : variable.size, variable.align,
                                   variable.at));
      if (out_.code->local_bytes - own > kLargestParameter)
        fail(variable.at, "Variable '" + variable.name + "' is too large");
      continue;
    }
    if (variable.space == Space::shared && variable.linkage == Linkage::external) {
      // The same dynamic memory, whatever it is called; with a size, an array of this function's.
    } else if (variable.linkage == Linkage::external) {
      const Symbol* symbol = link_.find(module_index_, variable.name);
      if (symbol == nullptr || symbol->kind != Symbol::variable) {
        fail(variable.at, "Unresolved extern variable '" + variable.name + "'");
      }
      local_.push_back(symbol->index);
      continue;
    }
    LinkedVariable linked;
    linked.variable = &variable;
    linked.module = module_index_;
    linked.dynamic_shared = is_dynamic_shared(variable);
    local_.push_back(static_cast<u32>(link_.variables.size()));
    link_.variables.push_back(linked);
  }
}

// --- Registers -------------------------------------------------------------------------------------------------------

u32 Resolver::temporary(Type type) {
  registers_.push_back(type);
  return static_cast<u32>(registers_.size() - 1);
}

Resolver::Reg Resolver::element(u32 reg, u32 number, u32 part) {
  const Register& declared = function_.registers[reg];
  auto& ids = register_ids_[reg];
  if (ids.size() <= number) ids.resize(number + 1, kUnset);
  if (ids[number] == kUnset) {
    ids[number] = static_cast<u32>(registers_.size());
    registers_.insert(registers_.end(), declared.vector, declared.type);
  }
  return {ids[number] + part, declared.type};
}

// A name of the module's that is declared before the statement.
const Symbol* Resolver::symbol_of(const std::string& name) const {
  const Symbol* symbol = link_.find(module_index_, name);
  return symbol != nullptr && before(symbol->declared, at_) ? symbol : nullptr;
}

// Which element of a register is meant: the x of v.x.
u32 Resolver::part_of(const std::string& name, const std::string& selector, u32 vector, Position at) const {
  if (vector == 1) {
    if (selector.size() == 1) fail(at, "Unknown video selector: '." + selector + "'");
    return 0;
  }
  constexpr std::string_view kParts = "xyzwrgba";
  const std::size_t part = selector.size() == 1 ? kParts.find(selector[0]) % 4 : kParts.size();
  if (selector.size() != 1 || part >= vector) fail(at, "Element of vector '" + name + "' expected");
  return static_cast<u32>(part);
}

std::optional<Resolver::Reg> Resolver::find_register(const std::string& name, const std::string& selector,
                                                     Position at) {
  const std::optional<Binding> binding = names_.find(name);
  if (!binding) return std::nullopt;
  if (binding->kind == Binding::parameter || binding->kind == Binding::result) {
    const bool result = binding->kind == Binding::result;
    const Parameter& parameter = (result ? function_.results : function_.parameters)[binding->index];
    if (!parameter.in_register) return std::nullopt;
    const u32 part = part_of(name, selector, parameter.vector, at);
    return Reg{parameter_registers_.at(u64{binding->index} * 2 + (result ? 1 : 0)) + part, parameter.type};
  }
  if (binding->kind != Binding::reg) return std::nullopt;
  const Register& declared = function_.registers[binding->index];
  if (!before(declared.at, at_)) unknown(name);
  return element(binding->index, binding->number, part_of(name, selector, declared.vector, at));
}

std::optional<Resolver::Reg> Resolver::find_register(const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  if (name == nullptr || operand.is_vector) return std::nullopt;
  const std::optional<Reg> reg = find_register(name->text, name->selector, operand.at);
  if (reg && !operand.index_register.empty()) mismatch();
  return reg;
}

Slot Resolver::guard(const Statement& statement) {
  if (statement.guard.empty()) return kNoSlot;
  const std::optional<Reg> reg = find_register(statement.guard, "", statement.at);
  if (!reg && !names_.find(statement.guard)) unknown(statement.guard);
  if (!reg || reg->type != Type::pred) fail(statement.at, "Predicate expression expected");
  return reg->id;
}

// --- Output ----------------------------------------------------------------------------------------------------------

void Resolver::mention(Slot slot, bool written, bool surely) {
  if (slot == kNoSlot || (slot & kConstant) != 0) return;
  const u32 instruction = static_cast<u32>(out_.code->instructions.size());
  mentions_.push_back({instruction, slot, written && surely, !written});
  if (written) {
    if (written_.size() <= slot) written_.resize(registers_.size(), 0);
    written_[slot] = instruction + 1;
    note_write(slot);
  }
  if (notes_ == nullptr) return;
  if (written)
    notes_->results.push_back({instruction, slot, registers_[slot], ""});
  else
    read_.push_back(slot);
}

// Slots are the numbers of virtual registers until assign_slots().
u32 Resolver::emit(const Instruction& instruction, std::initializer_list<Slot> read,
                   std::initializer_list<Slot> written, Step step) {
  const bool surely = instruction.guard == kNoSlot;
  mention(instruction.guard, false, false);
  for (Slot slot : read) mention(slot, false, surely);
  for (Slot slot : written) mention(slot, true, surely);
  steps_.push_back(step);
  out_.code->instructions.push_back(instruction);
  out_.code->instructions.back().statement = static_cast<u32>(out_.code->statements.size() - 1);
  return static_cast<u32>(out_.code->instructions.size() - 1);
}

// --- The end ---------------------------------------------------------------------------------------------------------

void Resolver::finish() {
  Code& code = *out_.code;
  code.statements.push_back({function_.at.line, {}});
  if (!function_.statements.empty()) code.statements.back() = code.statements[code.statements.size() - 2];
  Instruction last;
  last.run = run_return;
  Step step;
  step.falls_through = false;
  emit(last, {}, {}, step);
  find_origins();
  leave_out_unread();
  Flow flow;
  flow.is_entry = function_.is_entry;
  for (u32 i = 0; i < code.instructions.size(); ++i) {
    Step& each = steps_[i];
    if (each.target == kUnset) continue;
    each.target = code.instructions[i].target = first_[each.target];
  }
  for (auto& table : code.tables) {
    for (u32& target : table) target = first_[target];
  }
  flow.steps = std::move(steps_);
  flow.tables = code.tables;
  code.reconverge = reconvergence(flow);
  assign_slots(flow);
  code.local_bytes = static_cast<u32>(round_up(code.local_bytes, kFrameAlign));
  if (code.variable_bytes != 0) code.variable_bytes = as_on_the_stack(code.variable_bytes, variable_align_);
}

// Virtual registers become slots.
void Resolver::assign_slots(const Flow& flow) {
  Code& code = *out_.code;
  // What the caller copies in and out must not be used for anything else before or after.
  const u32 last = static_cast<u32>(code.instructions.size() - 1);
  for (const auto& parameter : code.parameters) {
    if (parameter.in_register) mentions_.insert(mentions_.begin(), {0, parameter.slot, false});
  }
  for (const auto& result : code.results) {
    if (result.in_register) mentions_.push_back({last, result.slot, false});
  }
  const u32 count = static_cast<u32>(registers_.size());
  SlotMap slots = allot(intervals(flow, mentions_, count), registers_);
  for (const auto& [id, constant] : of_launch_) slots.slot[id] = constant;
  for (auto& [id, index] : indices_) {
    index.slot = slots.slot[id] = static_cast<Slot>(round_up(slots.bytes, 64));
    slots.bytes = index.slot + kWarpSize * 4;
    code.indices.push_back(index);
  }
  code.frame_bytes = slots.bytes;
  code.registers_32bit = slots.words;
  const auto map = [&](Slot& slot) {
    if (slot != kNoSlot && (slot & kConstant) == 0) slot = slots.slot[slot];
  };
  for (u32 i = 0; i < code.instructions.size(); ++i) {
    Instruction& instruction = code.instructions[i];
    for (Slot& slot : instruction.slot) map(slot);
    if (instruction.guard == kNoSlot) continue;
    map(instruction.guard);
    if (function_.statements[instruction.statement].guard_negated) instruction.guard |= 1;
  }
  for (auto& wide : code.wide) {
    for (u32 i = 1; i <= wide[0]; ++i) map(wide[i]);
  }
  for (CallSite& site : code.calls) {
    map(site.pointer);
    for (auto& argument : site.arguments) map(argument.slot);
    for (auto& result : site.results) map(result.slot);
  }
  for (auto& parameter : code.parameters) map(parameter.slot);
  for (auto& result : code.results) map(result.slot);
  if (notes_ != nullptr) finish_notes(slots);
}

Resolved resolve(const Module& module, u32 index, const LinkedFunction& linked, u32 file_base, Link& link) {
  return Resolver(module, index, linked, file_base, link).run();
}

}  // namespace cudasim::ptx
