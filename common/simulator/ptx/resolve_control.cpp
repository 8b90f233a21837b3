// Branches, returns and calls: where a function's statements lead.
#include "common/simulator/ptx/resolver.hpp"

#include <algorithm>

namespace cudasim::ptx {
namespace {

// The parameters with the elements of vector registers one by one, as CallSite has them.
std::vector<Parameter> one_by_one(const std::vector<Parameter>& list) {
  std::vector<Parameter> all;
  for (const Parameter& each : list) {
    const bool vector = each.in_register && each.vector > 1;
    all.insert(all.end(), vector ? each.vector : 1, each);
    for (u32 i = 0; vector && i < each.vector; ++i) {
      Parameter& element = all[all.size() - 1 - i];
      element.vector = 1;
      element.size = bytes(each.type);
    }
  }
  return all;
}

bool has_narrow(const std::vector<Parameter>& list) {
  return std::any_of(list.begin(), list.end(), [](const Parameter& each) {
    const bool integer = is_unsigned(each.type) || is_signed(each.type);
    return each.in_register && (each.type == Type::pred || (integer && bytes(each.type) < 4));
  });
}

// .uni promises that all lanes go the same way: a hint, and what happens is the same without it.
bool only_uni(std::span<const std::string> modifiers) {
  return modifiers.empty() || (modifiers.size() == 1 && modifiers[0] == "uni");
}

}  // namespace

u32 Resolver::label(const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  if (name == nullptr || operand.is_vector || !operand.index_register.empty()) mismatch();
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
  if (&s == &function_.statements.back() && s.guard.empty()) return;  // there is one at the end anyway
  Step step;
  step.falls_through = !s.guard.empty();
  step.target = instruction.target;
  emit(instruction, {}, {}, step);
}

// The elements of vector registers one by one.
Operand Resolver::one_by_one(const Operand& list) const {
  Operand all = list;
  all.elements.clear();
  for (const Operand& each : list.elements) {
    if (!is_vector_register(each)) {
      all.elements.push_back(each);
      continue;
    }
    Operand vector = each;
    spell_out(vector);
    all.elements.insert(all.elements.end(), vector.elements.begin(), vector.elements.end());
  }
  return all;
}

std::vector<CallSite::Argument> Resolver::passed(const Operand& list, bool result) {
  std::vector<CallSite::Argument> all;
  for (const Operand& each : list.elements) {
    CallSite::Argument argument;
    if (const std::optional<Reg> reg = find_register(each)) {
      argument.in_register = true;
      argument.slot = reg->id;
      argument.size = bytes(reg->type);
    } else if (const Name* name = std::get_if<Name>(&each.value)) {
      if (!each.index_register.empty()) mismatch();
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
    } else if (std::holds_alternative<Sink>(each.value) && result) {
      argument.size = kUnset;  // a place of the result's size: see call_target
    } else {
      mismatch();
    }
    all.push_back(argument);
  }
  return all;
}

// Remembers what not every call may pass: see Loader::check_conventions().
void Resolver::note_narrow(const std::vector<Parameter>& results, const std::vector<Parameter>& parameters,
                           Position at) {
  if (has_narrow(parameters))
    out_.narrow = {at, "passing predicate, 8-bit and 16-bit parameters to"};
  else if (has_narrow(results))
    out_.narrow = {at, "returning predicate, 8-bit and 16-bit values from"};
}

void Resolver::check_passed(const Statement& statement, const std::vector<CallSite::Argument>& passed,
                            const std::vector<Parameter>& wanted) {
  if (passed.size() != wanted.size()) fail(statement.at, "Call has wrong number of parameters");
  for (std::size_t i = 0; i < passed.size(); ++i) {
    // An array without a size takes what comes.
    const bool open = wanted[i].is_array && wanted[i].size == 0;
    const u64 whole = wanted[i].in_register ? wanted[i].size : handed_over(wanted[i].size, wanted[i].align);
    if (!open && passed[i].size != wanted[i].size && passed[i].size != whole) mismatch();
  }
}

void Resolver::call(const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  CallSite site;
  const Operand arguments = one_by_one(s.operands[2]);
  site.results = passed(one_by_one(s.operands[0]), true);
  site.arguments = passed(arguments, false);
  call_target(s, arguments, site);
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

// Finds what is called, and gives immediate arguments the types of its parameters. Long because each kind of callee has
// errors of its own, in ptxas's words.
void Resolver::call_target(const Statement& s, const Operand& arguments, CallSite& site) {
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr) mismatch();
  const std::vector<Parameter>*results = nullptr, *parameters = nullptr;
  if (const std::optional<Reg> reg = find_register(s.operands[1])) {
    if (bytes(reg->type) != 8 || is_float(reg->type)) mismatch();
    site.pointer = reg->id;
    out_.calls_indirectly = true;
    out_.calls_by_convention = s.at;
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
      if (callee.module != module_index_) out_.calls_by_convention = s.at;
    } else if (const std::optional<Builtin> builtin = builtin_named(name->text)) {
      site.callee = kBuiltin + static_cast<u32>(*builtin);
      out_.calls_by_convention = s.at;
    } else {
      link_.errors.push_back({Diagnostic::unresolved, s.at, "Unresolved extern function '" + name->text + "'"});
      return;
    }
  }
  const std::vector<Parameter> taken = ptx::one_by_one(*parameters);
  for (CallSite::Argument& argument : site.arguments) {
    if (!argument.in_register || argument.slot != kConstant || argument.size != 0) continue;
    const u32 index = argument.local;
    if (index >= taken.size()) mismatch();
    const Type type = taken[index].type;
    if (type == Type::pred) mismatch();
    argument.slot = value(arguments.elements[index], type, false, nullptr).slot;
    argument.size = bytes(type);
    argument.local = 0;
  }
  const std::vector<Parameter> given = ptx::one_by_one(*results);
  for (std::size_t i = 0; i < site.results.size() && i < given.size(); ++i) {
    CallSite::Argument& unwanted = site.results[i];
    if (unwanted.size != kUnset) continue;
    unwanted.in_register = given[i].in_register;
    if (given[i].in_register) {
      unwanted.slot = temporary(given[i].type);
      unwanted.size = bytes(given[i].type);
    } else {
      unwanted.size = handed_over(given[i].size, given[i].align);
      unwanted.local = place_local(unwanted.size, given[i].align, s.at);
    }
  }
  note_narrow(*results, *parameters, s.at);
  check_passed(s, site.results, given);
  check_passed(s, site.arguments, taken);
}

}  // namespace cudasim::ptx
