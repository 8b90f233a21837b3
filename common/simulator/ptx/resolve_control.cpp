// Branches, returns and calls: where a function's statements lead.
#include "common/simulator/ptx/resolve_control.hpp"

#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/ptx/resolve_operands.hpp"

#include <algorithm>

namespace cudasim::ptx {

namespace {

// What a call passes or takes, while it is translated.
struct Passed : CallSite::Argument {
  const Operand* number = nullptr;  // an immediate argument, whose type is its parameter's
  bool discarded = false;           // "_": the result gets a place that is not read
};

// What the callee takes and returns.
struct Signature {
  const std::vector<Parameter>*results = nullptr, *parameters = nullptr;
};

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

// label = name
u32 label(const Draft& draft, const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  if (name == nullptr || operand.is_vector || !operand.index_register.empty()) mismatch(draft);
  const std::optional<Binding> binding = draft.body.names.find_label(name->text);
  if (!binding && !draft.body.names.find(name->text) && symbol_of(draft, name->text) == nullptr)
    unknown(draft, name->text);
  if (!binding || binding->kind != Binding::label)
    fail(operand.at, "Label expected for argument 0 of instruction '" + draft.source->opcode + "'");
  return draft.body.function.labels[binding->index].statement;  // becomes the index of an instruction in finish()
}

// branch = "bra" [".uni"] label
void branch(const Draft& draft, const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  if (s.operands.size() != 1) mismatch(draft);
  Instruction instruction;
  instruction.run = run_branch;
  instruction.guard = guard(draft, s);
  instruction.target = label(draft, s.operands[0]);
  Step step;
  step.falls_through = !s.guard.empty();
  step.target = instruction.target;
  emit(draft.body, instruction, {}, {}, step);
}

// branch_indexed = "brx.idx" [".uni"] value "," table
void branch_indexed(const Draft& draft, const Statement& s) {
  if (s.modifiers.empty() || s.modifiers[0] != "idx" || !only_uni(std::span(s.modifiers).subspan(1))) {
    fail(s.at, "Illegal modifiers for instruction 'brx'");
  }
  if (s.operands.size() != 2) mismatch(draft);
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr) mismatch(draft);
  const std::optional<Binding> binding = draft.body.names.find_label(name->text);
  if (!binding) unknown(draft, name->text);
  if (binding->kind != Binding::table) mismatch(draft);
  u32& table = draft.body.table_of[binding->index];
  Code& code = *draft.body.out.code;
  if (table == kUnset) {
    std::vector<u32> targets;
    for (const std::string& target : draft.body.function.tables[binding->index].targets) {
      const std::optional<Binding> at = draft.body.names.find_label(target);
      if (!at || at->kind != Binding::label) unknown(draft, target);
      targets.push_back(draft.body.function.labels[at->index].statement);
    }
    table = static_cast<u32>(code.tables.size());
    code.tables.push_back(std::move(targets));
  }
  Instruction instruction;
  instruction.run = run_branch_indexed;
  instruction.guard = guard(draft, s);
  instruction.target = table;
  instruction.slot[0] = value(draft, s.operands[0], Type::u32, false, nullptr).slot;
  Step step;
  step.falls_through = !s.guard.empty();
  step.table = table;
  emit(draft.body, instruction, {instruction.slot[0]}, {}, step);
}

// leave = "ret" [".uni"]
//
// The function's last instruction is its only ret; all others go there.
void leave(const Draft& draft, const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  if (!s.operands.empty()) mismatch(draft);
  Instruction instruction;
  instruction.run = run_branch;
  instruction.guard = guard(draft, s);
  instruction.target = static_cast<u32>(draft.body.function.statements.size());
  if (&s == &draft.body.function.statements.back() && s.guard.empty()) return;  // there is one at the end anyway
  Step step;
  step.falls_through = !s.guard.empty();
  step.target = instruction.target;
  emit(draft.body, instruction, {}, {}, step);
}

// The elements of vector registers one by one.
static Operand one_by_one(const Body& body, const Operand& list) {
  Operand all = list;
  all.elements.clear();
  for (const Operand& each : list.elements) {
    if (!is_vector_register(body, each)) {
      all.elements.push_back(each);
      continue;
    }
    Operand vector = each;
    spell_out(body, vector);
    all.elements.insert(all.elements.end(), vector.elements.begin(), vector.elements.end());
  }
  return all;
}

// passed = (register | parameter | number | "_") {"," …}: a number only as an argument, "_" only as a result
static std::vector<Passed> passed(const Draft& draft, const Operand& list, bool result) {
  std::vector<Passed> all;
  for (const Operand& each : list.elements) {
    Passed argument;
    if (const std::optional<Reg> reg = find_register(draft, each)) {
      argument.in_register = true;
      argument.slot = reg->id;
      argument.size = bytes(reg->type);
    } else if (const Name* name = std::get_if<Name>(&each.value)) {
      if (!each.index_register.empty()) mismatch(draft);
      const std::optional<Binding> binding = draft.body.names.find(name->text);
      if (!binding) unknown(draft, name->text);
      if (binding->kind == Binding::variable) {
        const Variable& variable = draft.body.function.variables[binding->index];
        if (variable.space != Space::param) mismatch(draft);
        argument.local = draft.body.local[binding->index];
        argument.size = handed_over(variable.size, variable.align);
      } else {
        const bool is_result = binding->kind == Binding::result;
        if (draft.body.function.is_entry) mismatch(draft);
        argument.local = (is_result ? draft.body.result_local : draft.body.parameter_local)[binding->index];
        const Parameter& own =
            (is_result ? draft.body.function.results : draft.body.function.parameters)[binding->index];
        argument.size = own.in_register ? static_cast<u32>(own.size) : handed_over(own.size, own.align);
      }
    } else if (const Immediate* number = std::get_if<Immediate>(&each.value); number != nullptr && !result) {
      argument.in_register = true;
      argument.number = &each;
    } else if (std::holds_alternative<Sink>(each.value) && result) {
      argument.discarded = true;
    } else {
      mismatch(draft);
    }
    all.push_back(argument);
  }
  return all;
}

// Remembers what not every call may pass: see Loader::check_conventions().
void note_narrow(Body& body, const std::vector<Parameter>& results, const std::vector<Parameter>& parameters,
                 Position at) {
  if (has_narrow(parameters))
    body.out.narrow = {at, "passing predicate, 8-bit and 16-bit parameters to"};
  else if (has_narrow(results))
    body.out.narrow = {at, "returning predicate, 8-bit and 16-bit values from"};
}

static void check_passed(const Draft& draft, const Statement& statement, const std::vector<Passed>& passed,
                         const std::vector<Parameter>& wanted) {
  if (passed.size() != wanted.size()) fail(statement.at, "Call has wrong number of parameters");
  for (std::size_t i = 0; i < passed.size(); ++i) {
    // An array without a size takes what comes.
    const bool open = wanted[i].is_array && wanted[i].size == 0;
    const u64 whole = wanted[i].in_register ? wanted[i].size : handed_over(wanted[i].size, wanted[i].align);
    if (!open && passed[i].size != wanted[i].size && passed[i].size != whole) mismatch(draft);
  }
}

// target = function | register
//
// Finds what is called; nothing if it is not there, which is an error. Long because each kind of callee has errors of
// its own, in ptxas's words.
static std::optional<Signature> find_callee(const Draft& draft, const Statement& s, CallSite& site) {
  const Name* name = std::get_if<Name>(&s.operands[1].value);
  if (name == nullptr) mismatch(draft);
  Signature found;
  if (const std::optional<Reg> reg = find_register(draft, s.operands[1])) {
    if (bytes(reg->type) != 8 || is_float(reg->type)) mismatch(draft);
    site.pointer = reg->id;
    draft.body.out.calls_indirectly = true;
    draft.body.out.calls_by_convention = s.at;
    const Name* table = std::get_if<Name>(&s.operands[3].value);
    const std::optional<Binding> binding = table == nullptr ? std::nullopt : draft.body.names.find_label(table->text);
    if (table != nullptr && !binding) unknown(draft, table->text);
    if (!binding || binding->kind == Binding::label) {
      fail(s.at, "Call to '" + Cursor::shown(name->text) + "' requires call prototype");
    }
    if (binding->kind == Binding::prototype) {
      found.results = &draft.body.function.prototypes[binding->index].results;
      found.parameters = &draft.body.function.prototypes[binding->index].parameters;
    } else {
      const auto& targets = draft.body.function.tables[binding->index].targets;
      for (const std::string& target : targets) {
        const Symbol* symbol = symbol_of(draft, target);
        if (symbol == nullptr || symbol->kind != Symbol::function) unknown(draft, target);
        found.results = &draft.body.link.functions[symbol->index].function->results;
        found.parameters = &draft.body.link.functions[symbol->index].function->parameters;
      }
    }
  } else {
    const Symbol* symbol = symbol_of(draft, name->text);
    if (symbol == nullptr) {
      draft.body.link.errors.push_back(
          {Diagnostic::syntax, s.at, "Call to '" + Cursor::shown(name->text) + "' requires call prototype"});
      unknown(draft, name->text);
    }
    if (symbol->kind != Symbol::function) fail(s.at, "Label expected for argument 0 of instruction 'call'");
    const LinkedFunction& callee = draft.body.link.functions[symbol->index];
    found.results = &callee.function->results;
    found.parameters = &callee.function->parameters;
    if (callee.function->is_entry) fail(s.at, "Entry function '" + name->text + "' cannot be called");
    if (callee.defined) {
      site.callee = callee.index;
      draft.body.out.callees.push_back(callee.index);
      if (callee.module != draft.body.module_index) draft.body.out.calls_by_convention = s.at;
    } else if (const std::optional<Builtin> builtin = builtin_named(name->text)) {
      site.callee = kBuiltin + static_cast<u32>(*builtin);
      draft.body.out.calls_by_convention = s.at;
    } else {
      draft.body.link.errors.push_back(
          {Diagnostic::unresolved, s.at, "Unresolved extern function '" + name->text + "'"});
      return std::nullopt;
    }
  }
  return found;
}

// Gives numbers the types of their parameters, and discarded results a place of their size.
static void settle(const Draft& draft, const Statement& s, std::vector<Passed>& results,
                   const std::vector<Parameter>& given, std::vector<Passed>& arguments,
                   const std::vector<Parameter>& taken) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Passed& argument = arguments[i];
    if (argument.number == nullptr) continue;
    if (i >= taken.size() || taken[i].type == Type::pred) mismatch(draft);
    argument.slot = value(draft, *argument.number, taken[i].type, false, nullptr).slot;
    argument.size = bytes(taken[i].type);
  }
  for (std::size_t i = 0; i < results.size() && i < given.size(); ++i) {
    Passed& unwanted = results[i];
    if (!unwanted.discarded) continue;
    unwanted.in_register = given[i].in_register;
    if (given[i].in_register) {
      unwanted.slot = temporary(draft.body, given[i].type);
      unwanted.size = bytes(given[i].type);
    } else {
      unwanted.size = handed_over(given[i].size, given[i].align);
      unwanted.local = place_local(draft.body, unwanted.size, given[i].align, s.at);
    }
  }
}

// call = "call" [".uni"] ["(" passed ")" ","] target ["," "(" passed ")"] ["," (table | prototype)]
void call(const Draft& draft, const Statement& s) {
  if (!only_uni(s.modifiers)) fail(s.at, "Unknown modifier '." + Cursor::shown(s.modifiers.back()) + "'");
  CallSite site;
  const Operand result_list = one_by_one(draft.body, s.operands[0]), list = one_by_one(draft.body, s.operands[2]);
  std::vector<Passed> results = passed(draft, result_list, true), arguments = passed(draft, list, false);
  if (const std::optional<Signature> callee = find_callee(draft, s, site)) {
    const std::vector<Parameter> given = one_by_one(*callee->results), taken = one_by_one(*callee->parameters);
    settle(draft, s, results, given, arguments, taken);
    note_narrow(draft.body, *callee->results, *callee->parameters, s.at);
    check_passed(draft, s, results, given);
    check_passed(draft, s, arguments, taken);
  }
  Instruction instruction;
  instruction.run = run_call;
  instruction.guard = guard(draft, s);
  instruction.target = static_cast<u32>(draft.body.out.code->calls.size());
  for (const Passed& each : arguments) {
    if (each.in_register) mention(draft.body, each.slot, false, false);
  }
  for (const Passed& each : results) {
    if (each.in_register) mention(draft.body, each.slot, true, s.guard.empty());
  }
  site.results.assign(results.begin(), results.end());
  site.arguments.assign(arguments.begin(), arguments.end());
  const Slot pointer = site.pointer;
  draft.body.out.code->calls.push_back(std::move(site));
  emit(draft.body, instruction, {pointer}, {});
}

}  // namespace cudasim::ptx
