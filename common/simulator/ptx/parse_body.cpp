// Reads what stands between a function's braces: declarations, labels, instructions. Source: PTX ISA, "Syntax",
// "Instruction operands", "Control flow instructions: call".
#include "common/simulator/ptx/parser.hpp"

namespace cudasim::ptx {
namespace {

constexpr int kDeepestOperand = 4;
constexpr u32 kMostDeclared = 1u << 24;
constexpr std::size_t kMostOperands = 1024;

bool is_selector(std::string_view word) {
  for (const char* each : {".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"}) {
    if (word == each) return true;
  }
  // .b0, .b3210, .h0, .h10: what video instructions select
  if (word.size() < 3 || (word[1] != 'b' && word[1] != 'h')) return false;
  for (char c : word.substr(2)) {
    if (c < '0' || c > '7') return false;
  }
  return true;
}

// Whether `name` is one of family0, family1 … family<count - 1>.
bool belongs(std::string_view name, std::string_view family, u32 count) {
  if (name.size() <= family.size() || name.size() > family.size() + 8 || name.substr(0, family.size()) != family)
    return false;
  const std::string_view digits = name.substr(family.size());
  u32 number = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<u32>(c - '0');
  }
  return (digits[0] != '0' || digits.size() == 1) && number < count;
}

}  // namespace

// Scopes are kept on a list, not on the native stack: a text may nest them as deeply as it likes.
void Parser::body(Function& function) {
  function_ = &function;
  open_scopes_.clear();
  declared_.clear();
  families_.clear();
  source_ = {};
  cursor_.expect('{');
  open_scope();
  for (const auto* list : {&function.parameters, &function.results}) {
    for (const Parameter& each : *list) {
      if (!each.name.empty() && each.name != "_") declare(each.at, each.name);
    }
  }
  while (!open_scopes_.empty()) {
    if (cursor_.at_end()) cursor_.unexpected();
    if (full()) return;
    try {
      body_item();
    } catch (const Failure& failure) {
      error(failure.at, failure.message);
      // To the end of the statement, but not out of the scope.
      while (!cursor_.at_end() && !cursor_.is(';') && !cursor_.is('}')) cursor_.take();
      cursor_.accept(';');
    }
  }
  function_ = nullptr;
}

void Parser::open_scope() {
  Scope scope;
  scope.parent = open_scopes_.empty() ? 0 : open_scopes_.back();
  open_scopes_.push_back(static_cast<u32>(function_->scopes.size()));
  function_->scopes.push_back(std::move(scope));
}

void Parser::body_item() {
  if (cursor_.is_name()) return cursor_.is(':', 1) ? label() : statement();
  if (cursor_.accept('{')) return open_scope();
  if (cursor_.accept('}')) return open_scopes_.pop_back();
  if (cursor_.is('@')) return cursor_.is('@', 1) ? dwarf_line() : statement();
  if (cursor_.accept_dotted(".loc")) return location();
  if (cursor_.accept_dotted(".reg")) return registers();
  if (cursor_.accept_dotted(".pragma")) return pragma();
  if (cursor_.accept_dotted(".file")) return file();
  if (cursor_.accept_dotted(".section")) return section();
  if (!variable_space()) cursor_.unexpected();
  body_variables();
}

// .loc file line column [, function_name label [+ n], inlined_at file line column]
void Parser::location() {
  SourceLine here;
  here.file = count();
  here.line = count();
  here.column = count();
  while (cursor_.accept(',')) {
    if (cursor_.accept_name("function_name")) {
      cursor_.expect_name();
      if (cursor_.accept('+')) count();
    } else if (const Position at = cursor_.where(); cursor_.accept_name("inlined_at")) {
      require("inlined_at", at);
      // A call that was inlined itself has had a .loc of its own, which says where.
      const std::array<u32, 3> call{count(), count(), count()};
      const auto outer = inlined_.find(call);
      here.outer_file = outer != inlined_.end() ? outer->second.first : call[0];
      here.outer_line = outer != inlined_.end() ? outer->second.second : call[1];
      inlined_[{here.file, here.line, here.column}] = {here.outer_file, here.outer_line};
    } else {
      cursor_.unexpected();
    }
  }
  // nvcc writes line 0 for code without a line of its own: it belongs to the call, if there is one.
  if (here.outer_line == 0) here.outer_file = 0;
  if (here.line == 0) here = {here.outer_file, here.outer_line};
  if (function_ != nullptr) source_ = here;
}

void Parser::registers() {
  Scope& scope = function_->scopes[open_scopes_.back()];
  for (Register& reg : registers_declared()) {
    declare(reg.at, reg.name, reg.count);
    scope.registers.push_back(static_cast<u32>(function_->registers.size()));
    function_->registers.push_back(std::move(reg));
  }
}

// What follows .reg.
std::vector<Register> Parser::registers_declared() {
  const Shape how = shape(Space::reg);
  std::vector<Register> all;
  do {
    Register reg;
    reg.at = cursor_.where();
    reg.name = cursor_.expect_name();
    reg.type = how.type;
    reg.vector = how.vector;
    if (how.vector > 1 && how.type == Type::pred) {
      Cursor::fail(reg.at, "Predicate type can only be used to define scalar register variables");
    }
    if (cursor_.is('<')) {
      reg.count = angle_count();
      if (reg.count > kMostDeclared) Cursor::fail(reg.at, "Too many registers '" + Cursor::shown(reg.name) + "'");
      if (reg.count == 0) continue;
    }
    all.push_back(std::move(reg));
  } while (cursor_.accept(','));
  cursor_.expect(';');
  return all;
}

// A name of the innermost scope, or `count` of them: name0, name1 … False, and told, if it is one already.
bool Parser::declare(Position at, const std::string& name, u32 count) {
  const std::string scope = std::to_string(open_scopes_.back()) + ":";
  const auto twice = [&](const std::string& which) {
    error(at, "Duplicate definition of variable '" + which + "'");
    return false;
  };
  if (!declared_.insert(scope + name + (count != 0 ? "<" : "")).second) return twice(name);
  if (count == 0 && declared_.count(scope + name + ":") != 0) return twice(name);
  // x<n> and x7 in one scope: the second one is the error.
  const Scope& here = function_->scopes[open_scopes_.back()];
  if (count != 0) {
    families_.push_back({open_scopes_.back(), name, count});
    for (u32 each : here.registers) {
      const Register& reg = function_->registers[each];
      if (reg.count == 0 && belongs(reg.name, name, count)) return twice(reg.name);
    }
    return true;
  }
  for (const Family& family : families_) {
    if (family.scope == open_scopes_.back() && belongs(name, family.name, family.count)) return twice(name);
  }
  return true;
}

// Until PTX ISA 1.3 a kernel's parameters are declared between its braces.
void Parser::parameter_in_body(const Variable& variable) {
  Parameter parameter;
  parameter.name = variable.name;
  parameter.type = variable.type;
  parameter.size = variable.size;
  parameter.align = variable.align;
  parameter.vector = variable.vector;
  parameter.is_array = !variable.dimensions.empty();
  parameter.at = variable.at;
  function_->parameters.push_back(std::move(parameter));
}

void Parser::body_variables() {
  const bool of_kernel = function_->is_entry && parsed_.module.version() < 14;
  for (Variable& variable : variables(*variable_space(), Linkage::local)) {
    declare(variable.at, variable.name);
    if (of_kernel && variable.space == Space::param) {
      parameter_in_body(variable);
      continue;
    }
    if (variable.space == Space::param) check_alignment(variable.name, variable.align, variable.at);
    function_->scopes[open_scopes_.back()].variables.push_back(static_cast<u32>(function_->variables.size()));
    function_->variables.push_back(std::move(variable));
  }
}

void Parser::label() {
  const Position at = cursor_.where();
  if (cursor_.next_text() == "_" || cursor_.next_text() == "$") cursor_.unexpected();
  std::string name(cursor_.expect_name());
  cursor_.expect(':');
  const std::string key = std::to_string(open_scopes_.back()) + ":" + name + ":";
  const bool other = declared_.count(key.substr(0, key.size() - 1)) != 0;
  if (!declared_.insert(key).second || other) error(at, "Duplicate definition of label '" + name + "'");
  if (accept_directive(".branchtargets") || cursor_.accept_dotted(".calltargets")) return branch_targets(name);
  if (cursor_.accept_dotted(".callprototype")) return call_prototype(name);
  function_->labels.push_back(
      {std::move(name), static_cast<u32>(function_->statements.size()), open_scopes_.back(), at});
}

void Parser::branch_targets(std::string name) {
  BranchTable table;
  table.name = std::move(name);
  table.scope = open_scopes_.back();
  do table.targets.emplace_back(cursor_.expect_name());
  while (cursor_.accept(','));
  cursor_.expect(';');
  function_->tables.push_back(std::move(table));
}

// name: .callprototype (results) _ (parameters) .noreturn;
void Parser::call_prototype(std::string name) {
  Prototype prototype;
  prototype.name = std::move(name);
  prototype.scope = open_scopes_.back();
  if (cursor_.is('(')) prototype.results = parameters();
  cursor_.expect_name();
  if (cursor_.is('(')) prototype.parameters = parameters();
  while (calling_directive(prototype.noreturn)) {
  }
  cursor_.expect(';');
  check_incomplete(prototype.results, prototype.parameters);
  function_->prototypes.push_back(std::move(prototype));
}

// --- Instructions ----------------------------------------------------------------------------------------------------

void Parser::statement() {
  Statement statement;
  statement.scope = open_scopes_.back();
  statement.source = source_;
  if (cursor_.accept('@')) {
    statement.guard_negated = cursor_.accept('!');
    statement.guard = cursor_.expect_name();
  }
  statement.at = cursor_.where();
  statement.opcode = cursor_.expect_name();
  while (cursor_.is_dotted()) {
    statement.modifiers.emplace_back(cursor_.text(cursor_.take()).substr(1));
    if (statement.modifiers.back() != "const" || !cursor_.is('[')) continue;
    if (const u32 number = bank(); number != 0) error(statement.at, unknown_bank(number), Diagnostic::unsupported);
  }
  if (statement.opcode == "call") {
    call_operands(statement);
  } else if (!cursor_.is(';')) {
    statement.operands.reserve(4);
    do {
      if (statement.operands.size() == kMostOperands) Cursor::fail(cursor_.where(), "Too many operands");
      statement.operands.push_back(operand());
    } while (cursor_.accept(','));
  }
  if (!cursor_.is(';')) cursor_.unexpected();
  // What follows a missing semicolon would only be reported as a second mistake.
  cursor_.take();
  function_->statements.push_back(std::move(statement));
}

// call (results), target, (arguments), table: all but the target may be missing.
void Parser::call_operands(Statement& statement) {
  statement.operands.resize(4);
  for (Operand& each : statement.operands) each.at = cursor_.where();
  if (cursor_.is('(')) {
    statement.operands[0] = call_list();
    cursor_.expect(',');
  }
  statement.operands[1] = named_operand();
  bool more = cursor_.accept(',');
  if (more && cursor_.is('(')) {
    statement.operands[2] = call_list();
    more = cursor_.accept(',');
  }
  if (more) statement.operands[3] = named_operand();
}

Operand Parser::call_list() {
  Operand list;
  list.at = cursor_.where();
  list.is_vector = true;
  cursor_.expect('(');
  if (cursor_.accept(')')) return list;
  do {
    if (list.elements.size() == kMostOperands) Cursor::fail(cursor_.where(), "Too many operands");
    list.elements.push_back(operand());
  } while (cursor_.accept(','));
  cursor_.expect(')');
  return list;
}

Operand Parser::operand(int depth) {
  if (depth > kDeepestOperand) cursor_.unexpected();
  Operand first = plain_operand(depth);
  if (cursor_.accept('|')) first.pair = std::make_shared<Operand>(plain_operand(depth + 1));
  return first;
}

Operand Parser::plain_operand(int depth) {
  if (cursor_.is('{')) return vector_operand(depth);
  if (cursor_.is('[')) return memory_operand(depth);
  if (starts_expression(cursor_)) {
    Operand number;
    number.at = cursor_.where();
    number.value = constant_expression(cursor_);
    return number;
  }
  if (cursor_.is('!')) {
    Operand negated;
    negated.at = cursor_.where();
    if (cursor_.peek(1).kind != Token::name) {
      negated.value = constant_expression(cursor_);
      return negated;
    }
    cursor_.take();
    negated = named_operand();
    negated.negated = true;
    return negated;
  }
  return named_operand();
}

Operand Parser::vector_operand(int depth) {
  Operand vector;
  vector.at = cursor_.where();
  vector.is_vector = true;
  cursor_.expect('{');
  if (cursor_.accept('}')) return vector;
  do {
    if (vector.elements.size() == kMostOperands) Cursor::fail(cursor_.where(), "Too many operands");
    vector.elements.push_back(operand(depth + 1));
  } while (cursor_.accept(','));
  cursor_.expect('}');
  return vector;
}

// [base], [base + 4], [base + -4], [4096], [texture, {x, y}], [texture, sampler, {x, y}]
Operand Parser::memory_operand(int depth) {
  Operand memory;
  memory.at = cursor_.where();
  cursor_.expect('[');
  Address address;
  if (cursor_.is_name() && !starts_expression(cursor_)) {
    if (cursor_.next_text() == "_") cursor_.unexpected();
    Operand base = named_operand();
    Name& name = std::get<Name>(base.value);
    if (!name.selector.empty()) name.text += "." + name.selector;
    if (base.indexed) cursor_.unexpected();
    address.base = std::move(name.text);
    address.offset = base.addend;
  } else {
    address.offset = integer_expression(cursor_);
  }
  memory.value = std::move(address);
  while (cursor_.accept(',')) {
    if (memory.elements.size() == kMostOperands) Cursor::fail(cursor_.where(), "Too many operands");
    memory.elements.push_back(operand(depth + 1));
  }
  cursor_.expect(']');
  return memory;
}

// A name, with what may follow it: .x  .b0  [2]  + 4
Operand Parser::named_operand() {
  Operand named;
  named.at = cursor_.where();
  Name name;
  name.text = cursor_.expect_name();
  if (name.text == "_") return named;
  if (cursor_.is_dotted()) {
    const std::string_view word = cursor_.next_text();
    if (!is_selector(word)) cursor_.unexpected();
    name.selector = word.substr(1);
    cursor_.take();
  }
  if (cursor_.accept('[')) {
    named.indexed = true;
    if (cursor_.is_name() && !starts_expression(cursor_)) {  // array[register], array[register + 4]
      named.index_register = cursor_.expect_name();
      if (cursor_.accept('+')) named.addend = integer_expression(cursor_);
    } else {
      named.index = integer_expression(cursor_);
    }
    cursor_.expect(']');
  }
  if (cursor_.accept('+')) {  // x-4 is written x+-4
    const Position at = cursor_.where();
    const Immediate number = operand_expression(cursor_);
    if (is_float(number.type)) Cursor::fail(at, "Integer constant expected");
    named.addend = static_cast<i64>(number.bits);
  }
  named.value = std::move(name);
  return named;
}

}  // namespace cudasim::ptx
