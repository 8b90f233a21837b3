// Turns a function's statements into instructions. Source: PTX ISA, "Instruction operands", "Type information for
// instructions and operands", "Operand size exceeding instruction-type size".
//
// Registers are numbered as they are met; when all instructions stand, registers whose intervals do not overlap get the
// same slot, so that a warp's frame stays in the cache.
#include "common/simulator/ptx/resolve.hpp"

#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/profile/notes.hpp"
#include "common/simulator/profile/wanted.hpp"
#include "common/simulator/ptx/cursor.hpp"
#include "common/simulator/ptx/flow.hpp"
#include "common/simulator/ptx/names.hpp"
#include "common/simulator/ptx/slots.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace cudasim::ptx {
namespace {

constexpr u32 kUnset = ~0u;
constexpr u32 kFrameAlign = 16;
constexpr u64 kLargestLocal = u64{512} << 10;  // bytes, of one thread (Programming Guide, "Technical Specifications")
constexpr std::size_t kSlots = sizeof(Instruction::slot) / sizeof(Slot);

bool is_opaque(Type type) { return type == Type::texref || type == Type::samplerref || type == Type::surfref; }

// Special registers have 32 bits, of which a program may read 16, or 64. Source: PTX ISA, "Special registers".
bool has_size(std::string_view special, u32 bytes) {
  const bool wide = special == "%clock64" || special == "%globaltimer" || special == "%current_graph_exec" ||
                    special.ends_with("_64");
  if (special == "%gridid") return bytes == 8 || bytes == 4;  // 32 bits until PTX 3.0, and still to be read so
  return special == "%is_explicit_cluster" ? bytes == 0 : wide ? bytes == 8 : bytes == 4 || bytes == 2;
}

// Instructions that are worth something without their result.
bool may_discard(std::string_view opcode) {
  return opcode == "atom" || opcode == "mbarrier" || opcode == "setp" || opcode == "elect" || opcode == "lop3" ||
         opcode == "match";
}

// Whether an operand of type `want` may be a register of type `have` of the same size.
bool agrees(Type want, Type have) {
  if (want == have) return true;
  if (want == Type::pred || have == Type::pred) return false;
  if (is_float(want) && is_float(have)) return false;
  if (is_float(want)) return !is_signed(have) && !is_unsigned(have);
  if (is_float(have)) return !is_signed(want) && !is_unsigned(want);
  return true;
}

// Whether a register that may be wider than the instruction's type can hold it.
bool holds(Type want, Type have) {
  if (bytes(want) == bytes(have)) return agrees(want, have);
  const bool any_bits = !is_float(want) && !is_signed(want) && !is_unsigned(want);
  return bytes(have) > bytes(want) && have != Type::pred && (any_bits || !is_float(have));
}

bool before(Position a, Position b) { return a.line != b.line ? a.line < b.line : a.column < b.column; }

// %tid and its like, of which there are %tid.x, .y and .z.
bool has_parts(std::string_view special) {
  return special[0] == '%' && special_register_handler(std::string(special) + ".x", 4) != nullptr;
}

class Resolver {
 public:
  Resolver(const Module& module, u32 module_index, const Function& function, u32 file_base, Link& link)
      : module_(module),
        module_index_(module_index),
        function_(function),
        file_base_(file_base),
        link_(link),
        names_(function) {
    if (notes_wanted()) notes_ = std::make_shared<Notes>();
  }

  Resolved run();

 private:
  // A value as an instruction takes it: a virtual register, or a constant's slot.
  struct Value {
    Slot slot = kNoSlot;
    bool constant() const { return slot != kNoSlot && (slot & kConstant) != 0; }
  };
  struct Reg {
    u32 id = 0;
    Type type = Type::none;
  };

  // Declarations.
  void lay_out_parameters();
  u32 place_local(u64 size, u32 align, Position at);
  void enter_variables();

  // Statements.
  void statement(const Statement& statement);
  void count_writes();
  void count_writes(const Operand& operand);
  bool loads_parameter(const Statement& statement) const;
  bool renames(const Statement& statement);
  void branch(const Statement& statement);
  void branch_indexed(const Statement& statement);
  void leave(const Statement& statement);
  void call(const Statement& statement);
  void call_target(const Statement& statement, CallSite& site);
  void prototype(const Statement& statement, const Operand& table);
  std::vector<CallSite::Argument> passed(const Operand& list, bool result);
  void check_passed(const Statement& statement, const std::vector<CallSite::Argument>& passed,
                    const std::vector<Parameter>& wanted);
  bool special_mov(const Statement& statement);
  void pack(const Statement& statement, Type type);
  void unpack(const Statement& statement, Type type);
  void move_vector(const Statement& statement, Type type, u32 count);
  bool is_vector_register(const Operand& operand) const;
  void spell_out(Operand& operand) const;
  void by_row(const Statement& statement);
  void note_barrier(const Statement& statement);
  void check_features(const Statement& statement, u32 version) const;
  void check_without_sync(const Statement& statement) const;
  void check_copy(const Statement& statement) const;

  // Operands of a row.
  struct Draft {
    const Statement* statement = nullptr;
    Form form;
    Instruction instruction;
    std::vector<Slot> slots;
    std::vector<bool> written;
    AddressOf offset_of;
    u32 index = 0;         // of the operand being read
    u32 memories = 0;      // memory operands so far
    bool updated = false;  // what it writes it reads, too
    bool in_vector = false;
    u32 element_bytes = 0;  // of the vector being read: its registers', 0 if it has none
  };
  void operands(Draft& draft, const std::vector<OperandRule>& rules);
  bool could_be(const Draft& draft, const OperandRule& rule, const Operand& given);
  void operand(Draft& draft, const OperandRule& rule, const Operand& operand);
  void missing(Draft& draft, const OperandRule& rule);
  void vector(Draft& draft, const OperandRule& rule, u32 count, const Operand& operand);
  u32 bytes_of_elements(const Operand& operand);
  void scalar(Draft& draft, const OperandRule& rule, const Operand& operand);
  void destination(Draft& draft, const OperandRule& rule, Type type, const Operand& operand);
  void source(Draft& draft, const OperandRule& rule, Type type, const Operand& operand);
  void memory(Draft& draft, const Operand& operand);
  void further_memory(Draft& draft, const Operand& operand);
  void memory_of_variable(Draft& draft, const Operand& operand, const Variable& variable, u32 index, i64 offset);
  Slot shared_address(u32 index, i64 offset, u32 bytes);
  void memory_of_local(Draft& draft, u32 local, i64 offset, Position at);
  void based_on(Draft& draft, Slot slot, u32 bytes);
  void set_width(Draft& draft, u32 width);
  void selectors(Draft& draft, const OperandRule& rule, const Operand& operand);
  Type type_of(const OperandRule& rule, const Form& form) const;

  // Values.
  Value value(const Operand& operand, Type type, bool wider, u32* width);
  std::optional<Value> address_value(const Operand& operand, u32 bytes);
  bool names_sampler(const std::string& text) const;
  Value special_register(const std::string& name, Type type);
  const Symbol* symbol_of(const std::string& name) const;
  std::optional<Reg> find_register(const Operand& operand);
  std::optional<Reg> find_register(const std::string& name, const std::string& selector, Position at);
  Reg element(u32 reg, u32 number, u32 part);
  u32 temporary(Type type);
  Slot guard(const Statement& statement);
  u32 label(const Operand& operand);
  std::string mnemonic() const;

  // Output.
  u32 emit(const Instruction& instruction, std::initializer_list<Slot> read, std::initializer_list<Slot> written,
           Step step = {});
  void mention(Slot slot, bool written, bool surely);
  void finish();
  void assign_slots(const Flow& flow);
  std::string text_of(const Statement& statement);
  void note(const Statement& statement);
  void finish_notes(const SlotMap& slots);

  [[noreturn]] void fail(Position at, std::string message) const { throw Failure{at, std::move(message)}; }
  [[noreturn]] void mismatch() const { fail(at_, "Arguments mismatch for instruction '" + current_->opcode + "'"); }
  [[noreturn]] void unknown(const std::string& name) const {
    fail(at_, "Unknown symbol '" + Cursor::shown(name) + "'");
  }

  const Module& module_;
  u32 module_index_;
  const Function& function_;
  u32 file_base_;
  Link& link_;
  Names names_;
  Resolved out_;

  const Statement* current_ = nullptr;
  Position at_;
  std::vector<Type> registers_;                 // virtual registers: their types
  std::vector<std::vector<u32>> register_ids_;  // by Function::registers: first part of each number, or kUnset
  std::vector<Mention> mentions_;
  std::vector<Step> steps_;
  std::vector<u32> first_;                              // by statement: its first instruction
  std::unordered_map<std::string_view, u32> writes_;    // statements of an entry function that write to this name
  std::unordered_set<std::string_view> of_parameters_;  // registers that hold a parameter and never anything else
  std::vector<u32> local_;  // by Function::variables: offset in the frame, or index of Link::variables
  std::vector<u32> parameter_local_, result_local_;
  std::vector<u32> table_of_;  // by Function::tables: in Code::tables
  std::unordered_map<u64, u32> parameter_registers_;
  std::shared_ptr<Notes> notes_;  // null: nobody wants them
  std::vector<u32> read_;         // registers that anything reads, if somebody wants notes
  std::size_t text_at_ = 0;       // a place in the module's text, and its line
  u32 text_line_ = 1;
};

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
  for (const Statement& each : function_.statements) {
    first_.push_back(static_cast<u32>(code.instructions.size()));
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

// --- Declarations ----------------------------------------------------------------------------------------------------

// What of a device function's parameter there is room for, and is handed over: whole words, as in the registers of a
// GPU. LLVM stores a word into a parameter of two bytes.
u32 handed_over(u64 size, u32 align) { return static_cast<u32>(align % 4 == 0 ? round_up(size, 4) : size); }

u32 Resolver::place_local(u64 size, u32 align, Position at) {
  Code& code = *out_.code;
  const u64 offset = round_up(code.local_bytes, align);
  if (offset + size > kLargestLocal) fail(at, "Function '" + function_.name + "' uses too much local data");
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
    if (parameter.size > kLargestLocal) fail(parameter.at, "Parameter '" + parameter.name + "' is too large");
    if (parameter.in_register) {
      if (parameter.type == Type::pred) fail(parameter.at, "Parameters of type .pred are not simulated");
      const u32 id = temporary(parameter.type);
      parameter_registers_[u64{index} * 2 + (result ? 1 : 0)] = id;
      placed.slot = id;
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
  if (function_.is_entry && offset > limit) {
    fail(function_.at, "Entry function '" + function_.name + "' uses too much parameter space (" +
                           std::to_string(offset) + " bytes, " + std::to_string(limit) + " max)");
  }
  out_.parameter_bytes = static_cast<u32>(offset);
}

// .local and .param variables lie in the frame; the others join those of the module.
void Resolver::enter_variables() {
  for (const Variable& variable : function_.variables) {
    if (variable.space == Space::local || variable.space == Space::param) {
      const bool handed = variable.space == Space::param;
      local_.push_back(place_local(handed ? handed_over(variable.size, variable.align) : variable.size, variable.align,
                                   variable.at));
      continue;
    }
    if (variable.space == Space::shared && variable.linkage == Linkage::external) {
      // The same dynamic memory, whatever it is called.
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
    linked.dynamic_shared = variable.space == Space::shared && variable.linkage == Linkage::external;
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

std::optional<Resolver::Reg> Resolver::find_register(const std::string& name, const std::string& selector,
                                                     Position at) {
  const std::optional<Binding> binding = names_.find(name);
  if (!binding) return std::nullopt;
  if (binding->kind == Binding::parameter || binding->kind == Binding::result) {
    const bool result = binding->kind == Binding::result;
    const Parameter& parameter = (result ? function_.results : function_.parameters)[binding->index];
    if (!parameter.in_register) return std::nullopt;
    return Reg{parameter_registers_.at(u64{binding->index} * 2 + (result ? 1 : 0)), parameter.type};
  }
  if (binding->kind != Binding::reg) return std::nullopt;
  const Register& declared = function_.registers[binding->index];
  if (!before(declared.at, at_)) unknown(name);
  if (declared.vector == 1) {
    if (selector.size() == 1) fail(at, "Unknown video selector: '." + selector + "'");
    return element(binding->index, binding->number, 0);
  }
  constexpr std::string_view kParts = "xyzwrgba";
  const std::size_t part = selector.size() == 1 ? kParts.find(selector[0]) % 4 : kParts.size();
  if (selector.size() != 1 || part >= declared.vector) fail(at, "Element of vector '" + name + "' expected");
  return element(binding->index, binding->number, static_cast<u32>(part));
}

std::optional<Resolver::Reg> Resolver::find_register(const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  if (name == nullptr || operand.is_vector) return std::nullopt;
  return find_register(name->text, name->selector, operand.at);
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
  mentions_.push_back({instruction, slot, written && surely});
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

// --- Control flow ----------------------------------------------------------------------------------------------------

void Resolver::statement(const Statement& s) {
  if (s.opcode == "bra") return branch(s);
  if (s.opcode == "brx") return branch_indexed(s);
  if (s.opcode == "ret") return leave(s);
  if (s.opcode == "call") return call(s);
  if (s.opcode == "mov" && special_mov(s)) return;
  if (s.opcode == "cvta" && renames(s)) return;
  check_without_sync(s);
  check_copy(s);
  by_row(s);
  if (loads_parameter(s)) of_parameters_.insert(std::get<Name>(s.operands[0].value).text);
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

// ld.param.u64 %rd1, [p]: from then on the register is the kernel's parameter, in all threads and for ever.
bool Resolver::loads_parameter(const Statement& s) const {
  if (s.opcode != "ld" || !s.guard.empty() || s.modifiers.size() != 2 || s.modifiers[0] != "param") return false;
  const Name* to = std::get_if<Name>(&s.operands[0].value);
  const Address* from = std::get_if<Address>(&s.operands[1].value);
  if (to == nullptr || from == nullptr || bytes(type_named(s.modifiers[1])) != 8) return false;
  const auto written = writes_.find(to->text);
  const auto binding = names_.find(from->base);
  return written != writes_.end() && written->second == 1 && binding && binding->kind == Binding::parameter;
}

// cvta.to.global.u64 %rd4, %rd1 of a parameter: global addresses are generic ones, so that %rd4 is only another name of
// %rd1, and nothing needs to run. Not where somebody looks on, who is to see each statement.
bool Resolver::renames(const Statement& s) {
  const bool to = !s.modifiers.empty() && s.modifiers[0] == "to";
  if (!s.guard.empty() || s.modifiers.size() != (to ? 3 : 2) || s.modifiers.back() != "u64") return false;
  const std::string& space = s.modifiers[to ? 1 : 0];
  if ((space != "global" && space != "const") || s.operands.size() != 2) return false;
  const Name* name = std::get_if<Name>(&s.operands[0].value);
  const Name* old = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr || old == nullptr || of_parameters_.count(old->text) == 0 || writes_[name->text] != 1)
    return false;
  const auto binding = names_.find(name->text);
  if (!binding || binding->kind != Binding::reg || !name->selector.empty()) return false;
  const Register& declared = function_.registers[binding->index];
  const std::optional<Reg> from = find_register(s.operands[1]);
  if (!from || declared.vector != 1 || bytes(declared.type) != 8 || !agrees(Type::u64, declared.type)) return false;
  auto& ids = register_ids_[binding->index];
  if (ids.size() <= binding->number) ids.resize(binding->number + 1, kUnset);
  if (ids[binding->number] != kUnset || !before(declared.at, at_)) return false;
  ids[binding->number] = from->id;
  return true;
}

// Lanes that make progress independently need to be told for whom to wait.
void Resolver::check_without_sync(const Statement& s) const {
  if (s.opcode != "shfl" && s.opcode != "vote") return;
  if (module_.target < 70 || module_.version() < 64) return;
  if (std::find(s.modifiers.begin(), s.modifiers.end(), "sync") != s.modifiers.end()) return;
  fail(s.at, "Instruction '" + s.opcode +
                 "' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4");
}

// cp.async.ca|cg [to], [from], size: past L1 only 16 bytes at a time.
void Resolver::check_copy(const Statement& s) const {
  if (s.opcode != "cp" || s.modifiers.size() < 2 || s.modifiers[0] != "async" || s.operands.size() < 3) return;
  const bool any = s.modifiers[1] == "ca";
  const Immediate* size = std::get_if<Immediate>(&s.operands[2].value);
  if (size == nullptr || (!any && s.modifiers[1] != "cg")) return;
  if (size->bits == 16 || (any && (size->bits == 4 || size->bits == 8))) return;
  fail(s.at, "Argument 2 of instruction 'cp.async': unexpected value '" + std::to_string(size->bits) +
                 "', expected to be " + (any ? "4 or 8 or 16" : "16"));
}

std::string Resolver::mnemonic() const {
  std::string text = current_->opcode;
  for (const std::string& modifier : current_->modifiers) text += "." + modifier;
  return text;
}

namespace {

// .uni promises that all lanes go the same way: a hint, and what happens is the same without it.
bool only_uni(std::span<const std::string> modifiers) {
  return modifiers.empty() || (modifiers.size() == 1 && modifiers[0] == "uni");
}

}  // namespace

u32 Resolver::label(const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  if (name == nullptr || operand.is_vector) mismatch();
  const std::optional<Binding> binding = names_.find_label(name->text);
  if (!binding && !names_.find(name->text) && symbol_of(name->text) == nullptr) unknown(name->text);
  if (!binding || binding->kind != Binding::label)
    fail(operand.at, "Label expected for argument 0 of instruction '" + current_->opcode + "'");
  return function_.labels[binding->index].statement;  // becomes the index of an instruction in finish()
}

void Resolver::branch(const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  if (s.operands.size() != 1) mismatch();
  Instruction instruction;
  instruction.run = run_branch;
  instruction.guard = guard(s);
  instruction.target = label(s.operands[0]);
  Step step;
  step.falls_through = !s.guard.empty();
  step.target = instruction.target;
  emit(instruction, {}, {}, step);
}

void Resolver::branch_indexed(const Statement& s) {
  if (s.modifiers.empty() || s.modifiers[0] != "idx" || !only_uni(std::span(s.modifiers).subspan(1))) {
    fail(s.at, "Illegal modifiers for instruction 'brx'");
  }
  if (s.operands.size() != 2) mismatch();
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr) mismatch();
  const std::optional<Binding> binding = names_.find_label(name->text);
  if (!binding) unknown(name->text);
  if (binding->kind != Binding::table) mismatch();
  u32& table = table_of_[binding->index];
  Code& code = *out_.code;
  if (table == kUnset) {
    std::vector<u32> targets;
    for (const std::string& target : function_.tables[binding->index].targets) {
      const std::optional<Binding> at = names_.find_label(target);
      if (!at || at->kind != Binding::label) unknown(target);
      targets.push_back(function_.labels[at->index].statement);
    }
    table = static_cast<u32>(code.tables.size());
    code.tables.push_back(std::move(targets));
  }
  Instruction instruction;
  instruction.run = run_branch_indexed;
  instruction.guard = guard(s);
  instruction.target = table;
  instruction.slot[0] = value(s.operands[0], Type::u32, false, nullptr).slot;
  Step step;
  step.falls_through = !s.guard.empty();
  step.table = table;
  emit(instruction, {instruction.slot[0]}, {}, step);
}

// The function's last instruction is its only ret; all others go there.
void Resolver::leave(const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  if (!s.operands.empty()) mismatch();
  Instruction instruction;
  instruction.run = run_branch;
  instruction.guard = guard(s);
  instruction.target = static_cast<u32>(function_.statements.size());
  if (&s == &function_.statements.back() && s.guard.empty()) return;  // what stands at the end anyway
  Step step;
  step.falls_through = !s.guard.empty();
  step.target = instruction.target;
  emit(instruction, {}, {}, step);
}

std::vector<CallSite::Argument> Resolver::passed(const Operand& list, bool result) {
  std::vector<CallSite::Argument> all;
  for (const Operand& each : list.elements) {
    CallSite::Argument argument;
    if (const std::optional<Reg> reg = find_register(each)) {
      if (reg->type == Type::pred) mismatch();
      argument.in_register = true;
      argument.slot = reg->id;
      argument.size = bytes(reg->type);
    } else if (const Name* name = std::get_if<Name>(&each.value)) {
      const std::optional<Binding> binding = names_.find(name->text);
      if (!binding) unknown(name->text);
      if (binding->kind == Binding::variable) {
        const Variable& variable = function_.variables[binding->index];
        if (variable.space != Space::param) mismatch();
        argument.local = local_[binding->index];
        argument.size = handed_over(variable.size, variable.align);
      } else {
        const bool is_result = binding->kind == Binding::result;
        if (function_.is_entry) mismatch();
        argument.local = (is_result ? result_local_ : parameter_local_)[binding->index];
        const Parameter& own = (is_result ? function_.results : function_.parameters)[binding->index];
        argument.size = own.in_register ? static_cast<u32>(own.size) : handed_over(own.size, own.align);
      }
    } else if (const Immediate* number = std::get_if<Immediate>(&each.value); number != nullptr && !result) {
      argument.in_register = true;  // its width is the parameter's: see check_passed
      argument.slot = kConstant;
      argument.size = 0;
      argument.local = static_cast<u32>(all.size());
    } else {
      mismatch();
    }
    all.push_back(argument);
  }
  return all;
}

void Resolver::check_passed(const Statement& statement, const std::vector<CallSite::Argument>& passed,
                            const std::vector<Parameter>& wanted) {
  if (passed.size() != wanted.size()) fail(statement.at, "Call has wrong number of parameters");
  for (std::size_t i = 0; i < passed.size(); ++i) {
    // An array without a size takes what comes.
    const bool open = wanted[i].is_array && wanted[i].size == 0;
    const u32 whole = wanted[i].in_register ? 0 : handed_over(wanted[i].size, wanted[i].align);
    if (!open && passed[i].size != wanted[i].size && passed[i].size != whole) mismatch();
  }
}

void Resolver::call(const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  CallSite site;
  site.results = passed(s.operands[0], true);
  site.arguments = passed(s.operands[2], false);
  call_target(s, site);
  Instruction instruction;
  instruction.run = run_call;
  instruction.guard = guard(s);
  instruction.target = static_cast<u32>(out_.code->calls.size());
  for (const CallSite::Argument& each : site.arguments) {
    if (each.in_register) mention(each.slot, false, false);
  }
  for (const CallSite::Argument& each : site.results) {
    if (each.in_register) mention(each.slot, true, s.guard.empty());
  }
  const Slot pointer = site.pointer;
  out_.code->calls.push_back(std::move(site));
  emit(instruction, {pointer}, {});
}

// Finds what is called, and gives immediate arguments the types of its parameters.
void Resolver::call_target(const Statement& s, CallSite& site) {
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr) mismatch();
  const std::vector<Parameter>*results = nullptr, *parameters = nullptr;
  if (const std::optional<Reg> reg = find_register(s.operands[1])) {
    if (bytes(reg->type) != 8 || is_float(reg->type)) mismatch();
    site.pointer = reg->id;
    out_.calls_indirectly = true;
    const Name* table = std::get_if<Name>(&s.operands[3].value);
    const std::optional<Binding> binding = table == nullptr ? std::nullopt : names_.find_label(table->text);
    if (table != nullptr && !binding) unknown(table->text);
    if (!binding || binding->kind == Binding::label) {
      fail(s.at, "Call to '" + Cursor::shown(name->text) + "' requires call prototype");
    }
    if (binding->kind == Binding::prototype) {
      results = &function_.prototypes[binding->index].results;
      parameters = &function_.prototypes[binding->index].parameters;
    } else {
      const auto& targets = function_.tables[binding->index].targets;
      for (const std::string& target : targets) {
        const Symbol* symbol = symbol_of(target);
        if (symbol == nullptr || symbol->kind != Symbol::function) unknown(target);
        results = &link_.functions[symbol->index].function->results;
        parameters = &link_.functions[symbol->index].function->parameters;
      }
    }
  } else {
    const Symbol* symbol = symbol_of(name->text);
    if (symbol == nullptr) {
      link_.errors.push_back(
          {Diagnostic::syntax, s.at, "Call to '" + Cursor::shown(name->text) + "' requires call prototype"});
      unknown(name->text);
    }
    if (symbol->kind != Symbol::function) fail(s.at, "Label expected for argument 0 of instruction 'call'");
    const LinkedFunction& callee = link_.functions[symbol->index];
    results = &callee.function->results;
    parameters = &callee.function->parameters;
    if (callee.function->is_entry) fail(s.at, "Entry function '" + name->text + "' cannot be called");
    if (callee.defined) {
      site.callee = callee.index;
      out_.callees.push_back(callee.index);
    } else if (const std::optional<Builtin> builtin = builtin_named(name->text)) {
      site.callee = kBuiltin + static_cast<u32>(*builtin);
    } else {
      link_.errors.push_back({Diagnostic::unresolved, s.at, "Unresolved extern function '" + name->text + "'"});
      return;
    }
  }
  for (CallSite::Argument& argument : site.arguments) {
    if (!argument.in_register || argument.slot != kConstant || argument.size != 0) continue;
    const u32 index = argument.local;
    if (index >= parameters->size()) mismatch();
    const Type type = (*parameters)[index].type;
    argument.slot = value(s.operands[2].elements[index], type, false, nullptr).slot;
    argument.size = bytes(type);
    argument.local = 0;
  }
  check_passed(s, site.results, *results);
  check_passed(s, site.arguments, *parameters);
}

// --- mov -------------------------------------------------------------------------------------------------------------

// A register declared as a vector, named whole.
bool Resolver::is_vector_register(const Operand& operand) const {
  const Name* name = operand.is_vector ? nullptr : std::get_if<Name>(&operand.value);
  if (name == nullptr || !name->selector.empty()) return false;
  const auto binding = names_.find(name->text);
  return binding && binding->kind == Binding::reg && function_.registers[binding->index].vector > 1;
}

// Names the elements of such a register one by one.
void Resolver::spell_out(Operand& operand) const {
  if (!is_vector_register(operand)) return;
  const std::string name = std::get<Name>(operand.value).text;
  const u32 count = function_.registers[names_.find(name)->index].vector;
  constexpr const char* kParts[] = {"x", "y", "z", "w"};
  for (u32 i = 0; i < count && i < 4; ++i) {
    Operand part = operand;
    part.value = Name{name, kParts[i]};
    operand.elements.push_back(std::move(part));
  }
  operand.is_vector = true;
}

// The forms of mov that are more than a copy: packing, unpacking, vectors, special registers, addresses in the frame.
bool Resolver::special_mov(const Statement& s) {
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
  if (vector != 1) return move_vector(s, type, vector), true;
  // mov.b64 %d, %v with a register that was declared as a vector is written mov.b64 %d, {%v.x, %v.y}, too (GCC does
  // not).
  if (is_vector_register(s.operands[0]) || is_vector_register(s.operands[1])) {
    Statement spelt = s;
    for (Operand& operand : spelt.operands) spell_out(operand);
    return special_mov(spelt);
  }
  if (s.operands[0].is_vector) return unpack(s, type), true;
  if (s.operands[1].is_vector) return pack(s, type), true;
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr || name->text[0] != '%' || names_.find(name->text)) return false;
  const std::string full = name->selector.empty() ? name->text : name->text + "." + name->selector;
  const std::optional<Reg> to = find_register(s.operands[0]);
  if (!to || type == Type::pred || bytes(to->type) != bytes(type) || !agrees(type, to->type)) return false;
  if (is_float(type) || !has_size(full, bytes(type))) return false;
  const Handler handler = special_register_handler(full, bytes(type));
  if (handler == nullptr) return false;
  Instruction instruction;
  instruction.run = handler;
  instruction.guard = guard(s);
  instruction.slot[0] = to->id;
  emit(instruction, {}, {to->id});
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

void Resolver::pack(const Statement& s, Type type) {
  const auto& parts = s.operands[1].elements;
  const Type each = piece(type, parts.size());
  if (is_float(type) || is_signed(type) || is_unsigned(type)) mismatch();
  const Handler handler = each == Type::none ? nullptr : pack_handler(static_cast<u32>(parts.size()), bytes(each));
  const std::optional<Reg> to = find_register(s.operands[0]);
  if (handler == nullptr || !to || bytes(to->type) != bytes(type) || to->type == Type::pred) mismatch();
  Instruction instruction;
  instruction.run = handler;
  instruction.slot[0] = to->id;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    instruction.slot[i + 1] = value(parts[i], each, false, nullptr).slot;
  }
  instruction.guard = guard(s);
  const Slot* slot = instruction.slot;
  emit(instruction, {slot[1], slot[2], slot[3], slot[4]}, {slot[0]});
}

void Resolver::unpack(const Statement& s, Type type) {
  const auto& parts = s.operands[0].elements;
  const Type each = piece(type, parts.size());
  if (is_float(type) || is_signed(type) || is_unsigned(type)) mismatch();
  const Handler handler = each == Type::none ? nullptr : unpack_handler(static_cast<u32>(parts.size()), bytes(each));
  if (handler == nullptr || s.operands[1].is_vector) mismatch();
  Instruction instruction;
  instruction.run = handler;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (std::holds_alternative<Sink>(parts[i].value) && !parts[i].is_vector) continue;
    const std::optional<Reg> to = find_register(parts[i]);
    if (!to || bytes(to->type) != bytes(each) || to->type == Type::pred) mismatch();
    instruction.slot[i] = to->id;
  }
  const Slot from = value(s.operands[1], type, false, nullptr).slot;
  instruction.slot[parts.size()] = from;
  instruction.guard = guard(s);
  Slot to[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::copy_n(instruction.slot, parts.size(), to);
  emit(instruction, {from}, {to[0], to[1], to[2], to[3]});
}

// mov.v4.f32 v, {a, b, c, d}: one mov for each element; through temporaries, since v may stand on both sides.
void Resolver::move_vector(const Statement& s, Type type, u32 count) {
  const std::string modifier[] = {name(type)};
  const Match found = match("mov", modifier);
  if (found.row == nullptr) fail(s.at, found.refusal);
  Form form = found.form;
  form.width[0] = form.width[1] = static_cast<u8>(bytes(type));
  const Bound bound = found.row->bind(form);
  if (bound.run == nullptr) mismatch();
  OperandRule rule;
  rule.type = type;
  rule.elements = count;
  Draft to, from;
  to.statement = from.statement = &s;
  rule.written = true;
  vector(to, rule, count, s.operands[0]);
  rule.written = false;
  Operand source = s.operands[1];
  const Name* special = std::get_if<Name>(&source.value);
  if (special != nullptr && count == 4 && has_parts(special->text) && !names_.find(special->text)) {
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
  instruction.guard = guard(s);
  std::vector<Slot> between;
  for (Slot slot : from.slots) {
    between.push_back(temporary(type));
    instruction.slot[0] = between.back();
    instruction.slot[1] = slot;
    emit(instruction, {slot}, {between.back()});
  }
  for (u32 i = 0; i < count; ++i) {
    instruction.slot[0] = to.slots[i];
    instruction.slot[1] = between[i];
    emit(instruction, {between[i]}, {to.slots[i]});
  }
}

// --- Instructions with a row -----------------------------------------------------------------------------------------

void Resolver::by_row(const Statement& s) {
  const Match found = match(s.opcode, s.modifiers);
  if (found.row == nullptr) {
    link_.errors.push_back({found.not_simulated ? Diagnostic::unsupported : Diagnostic::syntax, s.at, found.refusal});
    return;
  }
  const u32 version = module_.version();
  // 6.0 stands for the rows that name no version: they are as old, or older.
  if (found.row->ptx > 60 && version < found.row->ptx) {
    fail(s.at, "Instruction '" + mnemonic() + "' requires PTX ISA .version " + std::to_string(found.row->ptx / 10) +
                   "." + std::to_string(found.row->ptx % 10) + " or later");
  }
  if (found.row->target == kOnly90a) {
    if (module_.target_name != "sm_90a")
      fail(s.at, "Instruction '" + s.opcode + "' not supported on .target '" + module_.target_name + "'");
  } else if (module_.target < found.row->target) {
    fail(s.at,
         "Instruction '" + mnemonic() + "' requires .target sm_" + std::to_string(found.row->target) + " or higher");
  }
  const Type compared = found.form.type[0];
  if (s.opcode == "setp" && (compared == Type::f16 || compared == Type::bf16) && !s.operands.empty() &&
      s.operands[0].pair != nullptr) {
    fail(s.at, "Predicate output not allowed for instruction 'setp'");  // only pairs of halves have two results
  }
  check_features(s, version);
  Draft draft;
  draft.statement = &s;
  draft.form = found.form;
  operands(draft, *found.operands);
  const Bound bound = found.row->bind == nullptr ? Bound() : found.row->bind(draft.form);
  if (bound.run == nullptr) {
    link_.errors.push_back(
        {Diagnostic::unsupported, s.at, "Instruction '" + mnemonic() + "' with these operands is not simulated"});
    return;
  }
  Instruction& instruction = draft.instruction;
  instruction.run = bound.run;
  instruction.control = bound.control;
  instruction.guard = guard(s);
  std::copy_n(draft.slots.begin(), std::min(draft.slots.size(), kSlots), instruction.slot);
  if (draft.slots.size() > kSlots) {
    auto& wide = out_.code->wide.emplace_back(std::make_unique<Slot[]>(draft.slots.size() + 1));
    wide[0] = static_cast<Slot>(draft.slots.size());  // for assign_slots()
    std::copy(draft.slots.begin(), draft.slots.end(), wide.get() + 1);
    instruction.wide = wide.get() + 1;
  }
  const bool surely = s.guard.empty();
  for (std::size_t i = 0; i < draft.slots.size(); ++i) {
    if (!draft.written[i] || draft.updated) mention(draft.slots[i], false, surely);
  }
  for (std::size_t i = 0; i < draft.slots.size(); ++i) {
    if (draft.written[i]) mention(draft.slots[i], true, surely);
  }
  note_barrier(s);
  Step step;
  step.ends = s.opcode == "exit" || s.opcode == "trap";
  step.falls_through = !step.ends || !s.guard.empty();
  const bool jumps = instruction.target != kNoTarget;
  if (jumps) step.target = instruction.target;
  const u32 at = emit(instruction, {}, {}, step);
  if (draft.offset_of.kind != AddressOf::none) out_.fixups.push_back({at, draft.offset_of});
}

// What a modifier needs, whatever instruction it is of, and what only some operands fit.
void Resolver::check_features(const Statement& s, u32 version) const {
  const auto needs = [&](const char* feature, u32 least, u32 target) {
    if (version < least) {
      fail(s.at, std::string("Feature '") + feature + "' requires PTX ISA .version " + std::to_string(least / 10) +
                     "." + std::to_string(least % 10) + " or later");
    }
    if (module_.target < target) {
      fail(s.at, std::string("Feature '") + feature + "' requires .target sm_" + std::to_string(target) + " or higher");
    }
  };
  bool hint = false;
  std::string_view shared;
  for (const std::string& modifier : s.modifiers) {
    if (modifier == "shared::cta") needs("::cta", 78, 30);
    if (modifier == "shared::cluster") needs("::cluster", 78, 90);
    if (modifier == "cluster") needs(".cluster scope", 78, 90);
    if (modifier == "param::entry") needs("::entry", 83, 30);
    if (modifier == "param::func") needs("::func", 83, 30);
    hint |= modifier == "L2::cache_hint";
    if (modifier.starts_with("shared")) shared = modifier;
  }
  if (hint && !shared.empty() && (s.opcode == "atom" || s.opcode == "red")) {
    fail(s.at, "Modifier '.L2::cache_hint' cannot be applied to '." + std::string(shared) +
                   "' space for instruction '" + s.opcode + "'");
  }
  // Sizes and counts of which only some are any.
  const auto has = [&](std::string_view word) {
    return std::find(s.modifiers.begin(), s.modifiers.end(), word) != s.modifiers.end();
  };
  const bool copies_map = has("cp_fenceproxy") || has("tensormap::generic");
  const bool only_128 = s.opcode == "discard" || s.opcode == "applypriority" || copies_map;
  const std::size_t which = s.opcode == "setmaxnreg" ? 0 : has("cp_fenceproxy") ? 2 : 1;
  if ((only_128 || s.opcode == "setmaxnreg") && s.operands.size() > which) {
    const Immediate* number = std::get_if<Immediate>(&s.operands[which].value);
    if (number == nullptr) mismatch();
    const u64 value = number->bits;
    const std::string argument = "Argument " + std::to_string(which + 1) + " of instruction '" + s.opcode +
                                 "': unexpected value '" + std::to_string(value);
    if (only_128 && value != 128) fail(s.at, argument + "', expected to be 128");
    if (!only_128 && (value % 8 != 0 || value < 24 || value > 256)) {
      fail(s.at, argument + "', expected to be a multiple of 8 from 24 to 256");
    }
  }
  const bool to_predicate =
      s.opcode == "elect" || (s.opcode == "lop3" && s.modifiers.size() == 2 && s.modifiers[0] != "b32");
  if (to_predicate && !s.operands.empty() && s.operands[0].pair == nullptr) {
    fail(s.at, "Predicate output expected for instruction '" + s.opcode + "'");
  }
}

// Which of the 16 barriers a kernel needs: up to the highest number that is named; all of them if a register is.
void Resolver::note_barrier(const Statement& s) {
  if (s.opcode != "bar" && s.opcode != "barrier") return;
  if (!s.modifiers.empty() && (s.modifiers[0] == "warp" || s.modifiers[0] == "cluster")) return;
  const bool reduces = std::find(s.modifiers.begin(), s.modifiers.end(), "red") != s.modifiers.end();
  const std::size_t at = reduces ? 1 : 0;
  if (at >= s.operands.size()) return;
  const Immediate* barrier = std::get_if<Immediate>(&s.operands[at].value);
  if (barrier != nullptr && barrier->bits > 15) {
    fail(s.at, "Barrier number '" + std::to_string(barrier->bits) + "' out of range, expected to be in range [0..15]");
  }
  const Immediate* threads = at + 1 < s.operands.size() ? std::get_if<Immediate>(&s.operands[at + 1].value) : nullptr;
  if (threads != nullptr && threads->bits % kWarpSize != 0) {
    fail(s.at, "Number of threads participating in barrier must be in multiple of warp size");
  }
  out_.barriers = std::max(out_.barriers, barrier == nullptr ? 16 : static_cast<u32>(barrier->bits) + 1);
}

// Gives each rule its operand; what follows inside the brackets of a memory operand counts as an operand of its own.
void Resolver::operands(Draft& draft, const std::vector<OperandRule>& rules) {
  std::vector<const Operand*> given;
  for (const Operand& each : draft.statement->operands) {
    given.push_back(&each);
    if (!std::holds_alternative<Address>(each.value)) continue;
    for (const Operand& inner : each.elements) given.push_back(&inner);
  }
  std::size_t needed = 0;
  for (const OperandRule& rule : rules) {
    if (!rule.optional && !rule.second) ++needed;
  }
  if (given.size() < needed) mismatch();
  std::size_t spare = given.size() - needed, next = 0;
  const Operand* before = nullptr;
  for (const OperandRule& rule : rules) {
    if (rule.second) {
      if (before != nullptr && before->pair != nullptr) {
        operand(draft, rule, *before->pair);
      } else {
        missing(draft, rule);
      }
    } else if (rule.optional && (spare == 0 || !could_be(draft, rule, *given[next]))) {
      missing(draft, rule);
    } else {
      if (rule.optional) --spare;
      before = given[next++];
      const bool takes_pair = &rule + 1 < rules.data() + rules.size() && (&rule + 1)->second;
      if (before->pair != nullptr && !takes_pair) mismatch();
      operand(draft, rule, *before);
    }
    ++draft.index;
  }
  if (next != given.size()) mismatch();
}

// Whether an operand has the shape that an optional rule asks for: of several that may be left out, each takes what is
// meant for it.
bool Resolver::could_be(const Draft& draft, const OperandRule& rule, const Operand& given) {
  if (rule.kind != OperandRule::value || rule.elements == OperandRule::kVector || rule.or_fragment) return true;
  if (given.is_vector) return rule.vector || rule.elements > 1;
  const Name* name = std::get_if<Name>(&given.value);
  if (name == nullptr) return rule.elements == 1;
  if (is_vector_register(given)) return rule.elements > 1;
  const std::optional<Reg> reg = find_register(given);
  if (!reg || rule.wider || rule.or_predicate) return rule.elements == 1;
  const Type type = type_of(rule, draft.form);
  return rule.elements == 1 && bytes(type) == bytes(reg->type) && agrees(type, reg->type);
}

Type Resolver::type_of(const OperandRule& rule, const Form& form) const {
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

void Resolver::set_width(Draft& draft, u32 width) {
  if (draft.index < draft.form.width.size()) draft.form.width[draft.index] = static_cast<u8>(width);
}

void Resolver::missing(Draft& draft, const OperandRule& rule) {
  u32 count = rule.elements == OperandRule::kVector ? draft.form.vector : rule.elements;
  if (rule.kind == OperandRule::label || rule.kind == OperandRule::immediate || rule.kind == OperandRule::function)
    count = 0;
  draft.slots.insert(draft.slots.end(), count, kNoSlot);
  draft.written.insert(draft.written.end(), count, false);
}

void Resolver::operand(Draft& draft, const OperandRule& rule, const Operand& given) {
  switch (rule.kind) {
    case OperandRule::memory:
      if (++draft.memories > 1) return further_memory(draft, given);
      return memory(draft, given);
    case OperandRule::label: draft.instruction.target = label(given); return;
    case OperandRule::immediate: {
      const Immediate* number = std::get_if<Immediate>(&given.value);
      if (number == nullptr || is_float(number->type) || given.is_vector) mismatch();
      draft.instruction.offset = static_cast<i64>(number->bits);
      return;
    }
    case OperandRule::function: mismatch();
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

void Resolver::vector(Draft& draft, const OperandRule& rule, u32 count, const Operand& given) {
  OperandRule each = rule;
  each.elements = 1;
  if (given.is_vector) {
    if (given.elements.size() != count || given.negated) mismatch();
    draft.in_vector = true;
    draft.element_bytes = rule.wider ? bytes_of_elements(given) : 0;
    for (const Operand& part : given.elements) scalar(draft, each, part);
    draft.element_bytes = 0;
    draft.in_vector = false;
    return;
  }
  // A register that was declared as a vector stands for its elements.
  const Name* whole = std::get_if<Name>(&given.value);
  const std::optional<Binding> binding = whole == nullptr ? std::nullopt : names_.find(whole->text);
  if (whole != nullptr && !binding) unknown(whole->text);
  if (!binding || binding->kind != Binding::reg || !whole->selector.empty() ||
      function_.registers[binding->index].vector != count) {
    mismatch();
  }
  constexpr const char* kParts[] = {"x", "y", "z", "w"};
  for (u32 i = 0; i < count; ++i) {
    Operand part = given;
    part.value = Name{whole->text, i < 4 ? kParts[i] : "?"};
    scalar(draft, each, part);
  }
}

// One handler serves all elements: registers of one size, which numbers and what is left out then have, too.
u32 Resolver::bytes_of_elements(const Operand& given) {
  u32 size = 0;
  for (const Operand& part : given.elements) {
    const std::optional<Reg> reg = find_register(part);
    if (!reg) continue;
    if (size != 0 && size != bytes(reg->type)) fail(at_, "Incompatible elements of vector expression");
    size = bytes(reg->type);
  }
  return size;
}

void Resolver::scalar(Draft& draft, const OperandRule& rule, const Operand& given) {
  if (given.is_vector) fail(at_, "Vector operand is not allowed for instruction '" + current_->opcode + "'");
  if (std::holds_alternative<Address>(given.value)) mismatch();
  Type type = type_of(rule, draft.form);
  draft.updated |= rule.updated;
  if (rule.written) return destination(draft, rule, type, given);
  if (rule.or_predicate) {
    const std::optional<Reg> reg = find_register(given);
    if (reg && reg->type == Type::pred) type = Type::pred, draft.form.predicate |= 1u << draft.index;
  }
  source(draft, rule, type, given);
}

void Resolver::destination(Draft& draft, const OperandRule& rule, Type type, const Operand& given) {
  u32 id = 0;
  if (std::holds_alternative<Sink>(given.value)) {
    if (!rule.second && !draft.in_vector && !may_discard(current_->opcode)) {
      fail(at_, "Result discard mode is not allowed for instruction '" + current_->opcode + "'");
    }
    // Nobody reads it, but the instruction has a place to write to.
    const u32 size = std::max(bytes(type), draft.element_bytes);
    id = temporary(size == bytes(type) ? type : size == 2 ? Type::b16 : size == 4 ? Type::b32 : Type::b64);
    set_width(draft, size);
  } else {
    const Name* to = std::get_if<Name>(&given.value);
    if (to == nullptr) fail(at_, "Result register required for instruction '" + current_->opcode + "'");
    const std::optional<Reg> reg = find_register(given);
    if (!reg) {
      if (!names_.find(to->text) && symbol_of(to->text) == nullptr) unknown(to->text);
      fail(at_, "Result register required for instruction '" + current_->opcode + "'");
    }
    if (given.negated || given.addend != 0 || given.index != 0) mismatch();
    const bool fits = rule.wider ? holds(type, reg->type) : bytes(type) == bytes(reg->type) && agrees(type, reg->type);
    if (!fits) mismatch();
    id = reg->id;
    set_width(draft, bytes(reg->type));
  }
  selectors(draft, rule, given);
  draft.slots.push_back(id);
  draft.written.push_back(true);
}

void Resolver::source(Draft& draft, const OperandRule& rule, Type type, const Operand& given) {
  u32 width = bytes(type);
  Value from;
  const Immediate* number = std::get_if<Immediate>(&given.value);
  if (number != nullptr && !given.negated && draft.element_bytes > width) {
    const std::optional<u64> bits = convert_immediate(*number, type);
    if (!bits) mismatch();
    width = draft.element_bytes;
    from.slot = out_.constants.number(*bits, width);
  } else {
    from = value(given, type, rule.wider, &width);
  }
  set_width(draft, width);
  selectors(draft, rule, given);
  draft.slots.push_back(from.slot);
  draft.written.push_back(false);
}

// What a video instruction selects of a register.
void Resolver::selectors(Draft& draft, const OperandRule& rule, const Operand& given) {
  const Name* name = std::get_if<Name>(&given.value);
  if (name == nullptr || name->selector.empty()) return;
  if (name->selector.size() < 2) return;  // an element of a vector, or the part of a special register
  if (!rule.selected || draft.index >= draft.form.selector.size()) mismatch();
  draft.form.selector[draft.index] = name->selector;
}

// --- Values ----------------------------------------------------------------------------------------------------------

Resolver::Value Resolver::value(const Operand& given, Type type, bool wider, u32* width) {
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
    if (given.addend != 0 || given.index != 0) mismatch();
    const bool fits = wider ? holds(type, reg->type) : bytes(type) == bytes(reg->type) && agrees(type, reg->type);
    if (!fits) mismatch();
    if (width != nullptr) *width = bytes(reg->type);
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

Resolver::Value Resolver::special_register(const std::string& written, Type type) {
  const u32 width = bytes(type);
  std::string name = written;
  if (name.size() > 2 && name[name.size() - 2] == '.' && has_parts(name.substr(0, name.size() - 2))) {
    constexpr std::string_view kColours = "rgba", kParts = "xyzw";
    if (const std::size_t colour = kColours.find(name.back()); colour != kColours.npos) name.back() = kParts[colour];
    if (name.back() == 'w' && (current_->opcode == "mov" || current_->opcode == "cvt") && !is_float(type) &&
        (width == 2 || width == 4)) {
      return {out_.constants.number(0, width)};  // the fourth is not used
    }
  }
  const auto known = [&](u32 size) { return name[0] == '%' && special_register_handler(name, size) != nullptr; };
  if (!known(0) && !known(4) && !known(8)) unknown(name);
  if ((current_->opcode != "mov" && current_->opcode != "cvt") || is_float(type)) {
    fail(at_, "Special register argument not allowed for instruction '" + current_->opcode + "'");
  }
  const Handler handler = special_register_handler(name, width);
  if (handler == nullptr || !has_size(name, width)) mismatch();
  Instruction instruction;
  instruction.run = handler;
  instruction.slot[0] = temporary(type);
  emit(instruction, {}, {instruction.slot[0]});
  return {instruction.slot[0]};
}

// Whether it is a .samplerref variable, which stands beside a texture in independent mode.
bool Resolver::names_sampler(const std::string& text) const {
  const Symbol* symbol = symbol_of(text);
  return symbol != nullptr && symbol->kind == Symbol::variable &&
         link_.variables[symbol->index].variable->type == Type::samplerref;
}

// The address of a variable, parameter or function, in its own state space; none if there is none of that name.
std::optional<Resolver::Value> Resolver::address_value(const Operand& given, u32 bytes) {
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
      if (variable.space == Space::constant) out_.constants_used.push_back(index);
      return {out_.constants.address({AddressOf::variable, index, static_cast<u64>(offset)}, bytes)};
    }
    return {shared_address(index, offset, bytes)};
  };
  const bool moves = current_->opcode == "mov" ||
                     (current_->opcode == "cvta" && !current_->modifiers.empty() && current_->modifiers[0] != "to");
  if (!moves && !names_sampler(name.text) && (names_.find(name.text) || symbol_of(name.text) != nullptr)) {
    fail(at_, "'" + Cursor::shown(name.text) + "' used in instruction '" + current_->opcode + "': must be register");
  }
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
  return Value{out_.constants.address({AddressOf::function, function.index, static_cast<u64>(given.addend)}, bytes)};
}

// --- Memory operands -------------------------------------------------------------------------------------------------

void Resolver::based_on(Draft& draft, Slot slot, u32 bytes) {
  draft.form.address_bytes = bytes;
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

void Resolver::memory(Draft& draft, const Operand& given) {
  // array[1] without brackets is an address too.
  const Address* address = std::get_if<Address>(&given.value);
  Address bare;
  if (address == nullptr) {
    const Name* name = std::get_if<Name>(&given.value);
    if (name == nullptr || given.is_vector || given.negated || given.index == 0) mismatch();
    bare = {name->text, given.addend};
    address = &bare;
  }
  // A register that may hold the address of a parameter: in device functions those lie in the frame.
  const bool is_store = current_->opcode == "st";
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
    if (draft.form.space == Space::param && (is_store || !function_.is_entry || draft.form.has("param::func")) &&
        !entry_space) {
      draft.form.space = Space::local;
    }
    return based_on(draft, reg->id, bytes(reg->type));
  }
  const std::optional<Binding> binding = names_.find(base);
  if (binding && binding->kind == Binding::variable) {
    const Variable& variable = function_.variables[binding->index];
    const u64 element = u64{bytes(variable.type)} * variable.vector;
    const i64 offset = static_cast<i64>(static_cast<u64>(address->offset) + static_cast<u64>(given.index) * element);
    return memory_of_variable(draft, given, variable, local_[binding->index], offset);
  }
  if (binding) {
    const bool result = binding->kind == Binding::result;
    if (given.index != 0) mismatch();
    if (draft.form.space != Space::param) {
      fail(at_, "State space mismatch between instruction and address in instruction '" + current_->opcode + "'");
    }
    if (!function_.is_entry) {
      return memory_of_local(draft, (result ? result_local_ : parameter_local_)[binding->index], address->offset,
                             given.at);
    }
    if (is_store) fail(at_, "Illegal to write to function input parameter '" + base + "'");
    draft.instruction.offset = static_cast<i64>(out_.code->parameters[binding->index].offset) + address->offset;
    return based_on(draft, kNoSlot, 8);
  }
  const Symbol* symbol = symbol_of(base);
  if (symbol == nullptr) unknown(address->base);
  if (symbol->kind != Symbol::variable) mismatch();
  const Variable& variable = *link_.variables[symbol->index].variable;
  const u64 element = u64{bytes(variable.type)} * variable.vector;
  const i64 offset = static_cast<i64>(static_cast<u64>(address->offset) + static_cast<u64>(given.index) * element);
  memory_of_variable(draft, given, variable, symbol->index, offset);
}

void Resolver::memory_of_local(Draft& draft, u32 local, i64 offset, Position at) {
  (void)at;
  draft.form.space = Space::local;
  draft.instruction.offset = static_cast<i64>(local) + offset;
  based_on(draft, kNoSlot, 8);
}

void Resolver::memory_of_variable(Draft& draft, const Operand& given, const Variable& variable, u32 index, i64 offset) {
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
      if (!generic) return memory_of_local(draft, index, offset, given.at);
      break;
    case Space::shared:
      // Only loads and stores know what an address without a register means in a cluster.
      if (function_.is_entry && draft.form.space == Space::shared && draft.memories == 1 &&
          (current_->opcode == "ld" || current_->opcode == "st")) {
        out_.shared.push_back(index);
        draft.offset_of = {AddressOf::shared, index, 0};
        return based_on(draft, kNoSlot, 8);
      }
      break;
    case Space::constant: out_.constants_used.push_back(index); [[fallthrough]];
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
  return instruction.slot[0];
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
  const SlotMap slots = allot(intervals(flow, mentions_, count), registers_);
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

// --- Notes, for those who look on ------------------------------------------------------------------------------------

// As it is written, up to the semicolon, with one blank for any number of them.
std::string Resolver::text_of(const Statement& s) {
  const std::string& text = module_.text;
  if (s.at.line < text_line_) text_at_ = 0, text_line_ = 1;
  for (; text_line_ < s.at.line && text_at_ < text.size(); ++text_line_) text_at_ = text.find('\n', text_at_) + 1;
  std::string out;
  if (!s.guard.empty()) out = std::string(s.guard_negated ? "@!" : "@") + s.guard + " ";
  bool blank = false;
  for (std::size_t i = text_at_ + s.at.column - 1; i < text.size() && text[i] != ';'; ++i) {
    if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size() - 1);
    if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
      blank = true;
      continue;
    }
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
    blank = false;
    out += text[i];
  }
  return out;
}

void Resolver::note(const Statement& s) {
  Notes::Statement statement;
  statement.text = text_of(s);
  statement.kind = class_of(s.opcode, s.modifiers);
  for (const std::string& modifier : s.modifiers) {
    if (statement.type == Type::none) statement.type = type_named(modifier);
  }
  statement.branches = (s.opcode == "bra" || s.opcode == "brx") && (s.opcode == "brx" || !s.guard.empty());
  const bool of_warp = !s.modifiers.empty() && s.modifiers[0] == "warp";
  statement.barrier = (s.opcode == "bar" || s.opcode == "barrier") && !of_warp;
  const Immediate* last = s.operands.empty() ? nullptr : std::get_if<Immediate>(&s.operands.back().value);
  const bool adds = std::find(s.modifiers.begin(), s.modifiers.end(), "add") != s.modifiers.end();
  statement.quiet = s.opcode == "atom" || s.opcode == "red";  // unless somebody reads it: finish_notes()
  statement.adds_one = adds && last != nullptr && !is_float(last->type) && last->bits == 1;
  const u32 end = static_cast<u32>(out_.code->instructions.size());
  if (end != first_.back()) statement.instruction = end - 1;
  notes_->statements.push_back(std::move(statement));
}

// Numbers of registers become names and slots; what has no name nobody asks for.
void Resolver::finish_notes(const SlotMap& slots) {
  std::unordered_map<u32, std::string> names;
  for (u32 r = 0; r < function_.registers.size(); ++r) {
    const Register& declared = function_.registers[r];
    for (u32 number = 0; number < register_ids_[r].size(); ++number) {
      if (register_ids_[r][number] == kUnset) continue;
      const std::string name = declared.count == 0 ? declared.name : declared.name + std::to_string(number);
      constexpr const char* kParts[] = {".x", ".y", ".z", ".w"};
      for (u32 part = 0; part < declared.vector; ++part)
        names[register_ids_[r][number] + part] = declared.vector == 1 ? name : name + kParts[part % 4];
    }
  }
  for (const auto& [key, id] : parameter_registers_)
    names[id] = ((key & 1) != 0 ? function_.results : function_.parameters)[key / 2].name;
  std::vector<bool> read(registers_.size());
  for (const u32 id : read_) read[id] = true;
  std::vector<Notes::Result> kept;
  for (Notes::Result& result : notes_->results) {
    const u32 statement = out_.code->instructions[result.instruction].statement;
    if (statement < notes_->statements.size() && read[result.slot]) notes_->statements[statement].quiet = false;
    const auto found = names.find(result.slot);
    if (found == names.end()) continue;
    result.name = found->second;
    result.slot = slots.slot[result.slot];
    // Compilers declare registers as so many bits; the instruction says what is in them.
    const Type type = notes_->statements[out_.code->instructions[result.instruction].statement].type;
    if (type != Type::none && bytes(type) == bytes(result.type) && result.type != Type::pred) result.type = type;
    kept.push_back(std::move(result));
  }
  notes_->results = std::move(kept);
  Notes::Statement last;  // the ret at which all meet
  last.text = "ret";
  last.kind = Class::control;
  last.instruction = static_cast<u32>(out_.code->instructions.size() - 1);
  notes_->statements.push_back(std::move(last));
  out_.code->notes = notes_;
}

}  // namespace

Resolved resolve(const Module& module, u32 module_index, const Function& function, u32 file_base, Link& link) {
  return Resolver(module, module_index, function, file_base, link).run();
}

}  // namespace cudasim::ptx
