// Reads a module: its directives and declarations. Source: PTX ISA, "Directives", "State spaces, types, and variables".
#include "common/simulator/ptx/parser.hpp"
#include "common/simulator/ptx/version.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>

namespace cudasim::ptx {
namespace {

constexpr u32 kLargestParameterAlign = 128;

u32 digits(std::string_view text) {
  u32 value = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || value > 100'000) return 0;
    value = value * 10 + static_cast<u32>(c - '0');
  }
  return value;
}

bool is_texture_mode(std::string_view word) { return word == "texmode_unified" || word == "texmode_independent"; }

}  // namespace

Parser::Parser(std::string_view text, std::size_t limit) : cursor_(text), limit_(std::max<std::size_t>(limit, 1)) {
  parsed_.module.text = text;
  parsed_.module.files.emplace_back();
}

void Parser::error(Position at, std::string message, Diagnostic::Kind kind) {
  if (full()) return;
  Diagnostic next{kind, at, std::move(message)};
  stopped_ = is_fatal(next);
  // One mistake often makes the rest of its line unreadable: say the first thing only.
  if (at.line == last_error_line_ && !stopped_) return;
  last_error_line_ = at.line;
  parsed_.errors.push_back(std::move(next));
}

// Reports an error if the module's version or target lacks what is at `at`. Parsing continues either way.
void Parser::require(std::string_view word, Position at) {
  const Later* need = later(word);
  if (need == nullptr) return;
  const Module& module = parsed_.module;
  const std::string what = std::string("Feature '") + need->name + "' requires ";
  if (module.version() < need->ptx) {
    error(at, what + "PTX ISA .version " + std::to_string(need->ptx / 10) + "." + std::to_string(need->ptx % 10) +
                  " or later");
  } else if (module.target < need->target) {
    error(at, what + ".target sm_" + std::to_string(need->target) + " or higher");
  }
}

bool Parser::accept_directive(std::string_view word) {
  const Position at = cursor_.where();
  if (!cursor_.accept_dotted(word)) return false;
  require(word, at);
  return true;
}

Parsed Parser::run() {
  try {
    header();
  } catch (const Failure& failure) {
    error(failure.at, failure.message);
    return std::move(parsed_);
  }
  if (!parsed_.errors.empty()) return std::move(parsed_);  // of another version or target: the rest says nothing
  while (!cursor_.at_end() && !full()) {
    try {
      item();
    } catch (const Failure& failure) {
      error(failure.at, failure.message);
      recover();
    }
  }
  if (debug_at_ && !has_debug_information_ && parsed_.errors.empty())
    error(*debug_at_, "Debug information not found in presence of .target debug");
  return std::move(parsed_);
}

// Skips to behind the next semicolon or block of braces.
void Parser::recover() {
  int depth = 0;
  while (!cursor_.at_end()) {
    const u16 code = cursor_.take().code;
    if (code == '{') ++depth;
    if (code == '}' && --depth <= 0) return;
    if (code == ';' && depth <= 0) return;
  }
}

void Parser::header() {
  while (cursor_.is('@')) dwarf_line();
  if (!cursor_.is_dotted(".version")) {
    Cursor::fail(cursor_.where(), "Missing .version directive at start of file 'application ptx input'");
  }
  cursor_.take();
  version();
  if (!parsed_.errors.empty()) return;
  while (cursor_.is('@')) dwarf_line();
  if (!cursor_.is_dotted(".target"))
    Cursor::fail(cursor_.where(), "Missing .target directive at start of file 'application ptx input'");
  // The text is for devices that have the features of the highest one (PTX ISA, ".target").
  u32 highest = 0;
  while (cursor_.accept_dotted(".target")) {
    target();
    highest = std::max(highest, parsed_.module.target);
  }
  parsed_.module.target = highest;
}

// Version and target are checked where they stand: a newer version may hold syntax of its own.
void Parser::version() {
  const Position at = cursor_.where();
  const Token token = cursor_.take();
  const std::string text(cursor_.text(token));
  const std::size_t dot = text.find('.');
  const bool is_number = text.find_first_not_of("0123456789.") == std::string::npos;
  if (token.kind == Token::integer)
    Cursor::fail(at, "Missing .version directive at start of file 'application ptx input'");
  if (token.kind != Token::real || dot == std::string::npos || dot + 1 == text.size() || !is_number) {
    Cursor::fail(at, "Parsing error near '" + Cursor::shown(text) + "': syntax error");
  }
  Module& module = parsed_.module;
  module.version_major = digits(text.substr(0, dot));
  module.version_minor = digits(text.substr(dot + 1, 1));  // 8.10 is 8.1: a number, not a pair of them
  const u32 newest = newest_ptx();
  if (module.version() > newest || !is_release(module.version())) {
    error(at,
          "Unsupported .version " + text + "; current version is '" + std::to_string(newest / 10) + "." +
              std::to_string(newest % 10) + "'",
          Diagnostic::version);
  }
}

void Parser::target() {
  Module& module = parsed_.module;
  std::string texture_mode;
  do {
    const Position at = cursor_.where();
    std::string name(cursor_.expect_name());
    if (module.target == 0 && (is_texture_mode(name) || name == "debug" || name == "map_f64_to_f32")) {
      Cursor::fail(at, "Target architecture not defined at start of file 'application ptx input'");
    }
    if (name == "debug") {
      module.debug = true;
      debug_at_ = at;
    } else if (is_texture_mode(name)) {
      if (!texture_mode.empty() && texture_mode != name) error(at, "Conflicting .target option '" + name + "'");
      texture_mode = name;
      module.independent_textures = name == "texmode_independent";
    } else if (name == "map_f64_to_f32") {
      if (module.target >= 13) error(at, "Directive map_f64_to_f32 is not supported with SM 1.3 or higher");
    } else {
      const std::string written = name;
      if (name.starts_with("compute_")) name = "sm_" + name.substr(std::strlen("compute_"));
      const Target known = target_named(name);
      if (known.number == 0) {
        error(at, "Unsupported .target '" + Cursor::shown(written) + "'", Diagnostic::target);
        return;
      }
      module.target = known.number;
      module.target_name = name;
      if (known.number > kDeviceTarget) {
        error(at, "SM version specified by .target is higher than default SM version assumed", Diagnostic::target);
      } else if (module.version() < known.since) {
        error(at,
              "PTX .version " + std::to_string(module.version_major) + "." + std::to_string(module.version_minor) +
                  " does not support .target " + written,
              Diagnostic::target);
      }
    }
  } while (cursor_.accept(','));
}

void Parser::address_size() {
  const Position at = cursor_.where();
  const i64 size = integer_expression(cursor_);
  if (size == 32)
    error(at, "32-Bit addressing is not supported on sm_90 or higher architectures");
  else if (size != 64)
    error(at, "Illegal value for .address_size directive (must be 32 or 64)");
}

void Parser::file() {
  const Position at = cursor_.where();
  const i64 index = integer_expression(cursor_);
  if (index < 0 || index > 1'000'000) Cursor::fail(at, "File index out of range");
  if (cursor_.peek().kind != Token::string) cursor_.unexpected();
  const std::string_view quoted = cursor_.text(cursor_.take());
  while (cursor_.accept(',')) constant_expression(cursor_);  // time stamp, size
  auto& files = parsed_.module.files;
  if (files.size() <= static_cast<std::size_t>(index)) files.resize(static_cast<std::size_t>(index) + 1);
  files[static_cast<std::size_t>(index)] = quoted.substr(1, quoted.size() - 2);
}

// Debug information for a debugger of machine code: its braces are matched, its contents are of no use here.
void Parser::section() {
  if (!cursor_.is_dotted() || type_named(cursor_.next_text().substr(1)) != Type::none) cursor_.unexpected();
  cursor_.take();
  has_debug_information_ = true;
  cursor_.expect('{');
  while (!cursor_.accept('}')) {
    const Position at = cursor_.where();
    if (cursor_.is_name() && cursor_.is(':', 1)) {
      require("label:", at);
      cursor_.take();
      cursor_.take();
      continue;
    }
    const Type type = cursor_.is_dotted() ? type_named(cursor_.next_text().substr(1)) : Type::none;
    if (type == Type::none) cursor_.unexpected();
    cursor_.take();
    if (type != Type::b8 && type != Type::b16 && type != Type::b32 && type != Type::b64)
      error(at, "Illegal type for dwarf data");
    do section_value(type);
    while (cursor_.accept(','));
  }
}

// A number; a label or a section's name, perhaps with a distance; or what lies between two labels.
void Parser::section_value(Type type) {
  const Position at = cursor_.where();
  const bool is_label = cursor_.is_name();
  if (is_label || (cursor_.is_dotted() && type_named(cursor_.next_text().substr(1)) == Type::none)) {
    cursor_.take();
    if (is_label && cursor_.accept('-')) {
      require("label-label", at);
      cursor_.expect_name();
      return;
    }
    if (bits(type) < 32) error(at, "Illegal type for dwarf data");
    if (!cursor_.accept('+')) return;
    if (cursor_.peek().kind != Token::integer) cursor_.unexpected();
    literal(cursor_);
    return;
  }
  const bool negative = cursor_.accept('-');
  if (negative) require("-number", at);
  if (cursor_.peek().kind != Token::integer) cursor_.unexpected();
  const u64 value = literal(cursor_).bits, half = u64{1} << (std::clamp(bits(type), 8u, 64u) - 1);
  // Of 32 bits ptxas takes larger numbers, too, unless they are negative.
  if (negative ? value > half : bits(type) < 32 && value > 2 * half - 1) {
    error(at,
          std::string("Value out of range for type .") + name(type) + (negative ? " -" : " ") + std::to_string(value));
  }
}

// "Pragmas are hints": none changes what a kernel computes, and unknown ones are to be ignored (PTX ISA, ".pragma").
void Parser::pragma() {
  do {
    if (cursor_.peek().kind != Token::string) cursor_.unexpected();
    cursor_.take();
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

void Parser::alias() {
  Function alias;
  alias.at = cursor_.where();
  alias.name = cursor_.expect_name();
  cursor_.expect(',');
  alias.alias_of = cursor_.expect_name();
  cursor_.expect(';');
  parsed_.module.functions.push_back(std::move(alias));
}

// The oldest form of debug information: lines that start with @@DWARF.
void Parser::dwarf_line() {
  has_debug_information_ = true;
  cursor_.expect('@');
  cursor_.expect('@');
  const u32 line = cursor_.peek().line;
  while (!cursor_.at_end() && cursor_.peek().line == line) cursor_.take();
}

Parser::Linking Parser::linking() {
  Linking linking;
  linking.at = cursor_.where();
  if (cursor_.accept_dotted(".extern"))
    linking.linkage = Linkage::external;
  else if (cursor_.accept_dotted(".visible"))
    linking.linkage = Linkage::visible;
  else if (cursor_.accept_dotted(".weak"))
    linking.linkage = Linkage::weak;
  else if (accept_directive(".common"))
    linking.linkage = Linkage::common;
  return linking;
}

void Parser::item() {
  if (cursor_.is('@') && cursor_.is('@', 1)) return dwarf_line();
  if (cursor_.accept_dotted(".file")) return file();
  if (cursor_.accept_dotted(".section")) return section();
  if (cursor_.accept_dotted(".pragma")) return pragma();
  if (accept_directive(".alias")) return alias();
  if (accept_directive(".address_size")) return address_size();
  if (cursor_.accept_dotted(".loc")) return location();
  const Linking how = linking();
  if (how.linkage == Linkage::common && (cursor_.is_dotted(".entry") || cursor_.is_dotted(".func")))
    cursor_.unexpected();
  if (cursor_.accept_dotted(".entry")) return function(how, true);
  if (cursor_.accept_dotted(".func")) return function(how, false);
  if (how.linkage == Linkage::local && cursor_.accept_dotted(".reg")) {
    for (const Register& reg : registers_declared()) refuse_module_scope(reg.at, "reg");
    return;
  }
  const std::optional<Space> space = variable_space();
  if (!space || *space == Space::param) cursor_.unexpected();
  for (Variable& variable : variables(*space, how.linkage)) {
    if (variable.space == Space::local) refuse_module_scope(variable.at, "local");
    parsed_.module.variables.push_back(std::move(variable));
  }
}

// "PTX ISA versions prior to 3.0 permitted variables in .reg and .local state spaces to be defined at module scope"
// (PTX ISA, "Function declarations and definitions").
void Parser::refuse_module_scope(Position at, const char* space) {
  const std::string what = std::string("Module-scoped variables in .") + space + " state space are not ";
  if (parsed_.module.version() >= 30) return error(at, what + "allowed with ABI");
  error(at, what + "simulated", Diagnostic::unsupported);
}

// What ptxas asks of parameters and results beyond their syntax.
void Parser::check_signature(const Function& function) {
  for (const auto* list : {&function.parameters, &function.results}) {
    for (const Parameter& each : *list) {
      const bool opaque = each.type == Type::texref || each.type == Type::samplerref || each.type == Type::surfref;
      if (!each.in_register && (each.vector > 1 || (opaque && !function.is_entry))) {
        error(each.at, "Variable '" + each.name + "' cannot be allocated in .param state space");
      }
      if (each.in_register && each.type == Type::pred && (each.is_array || each.vector > 1))
        error(each.at, "Predicate type can only be used to define scalar register variables");
      else if (each.in_register && each.is_array)
        error(each.at, "Variable '" + each.name + "' cannot be allocated into a register");
      if (each.pointer && !function.is_entry) error(each.at, "Illegal placement of kernel parameter attribute");
      if (function.is_entry && each.in_register)
        error(each.at, "Entry parameter '" + each.name + "' must have .param state space");
      if (function.is_entry && each.is_array && each.size == 0) {
        error(each.at, "Parameter to entry function cannot be an incomplete array.");
      }
      if (function.is_entry) continue;
      check_alignment(each.name, each.align, each.at);
      if (each.name == "_") error(each.at, "Illegal parameter name '_'");
    }
  }
  check_incomplete(function.results, function.parameters);
  const auto in_memory = [](const Parameter& each) { return !each.in_register; };
  if (function.results.size() > 1 && std::any_of(function.results.begin(), function.results.end(), in_memory)) {
    error(function.at, "Multiple return parameters require .register state space");
  }
  if (function.noreturn && (function.is_entry || !function.results.empty())) {
    error(function.at, "Invalid directive '.noreturn' for function '" + function.name + "'");
  }
}

// A parameter of a function, and a variable that stands for one in a call.
void Parser::check_alignment(const std::string& name, u32 align, Position at) {
  if (align <= kLargestParameterAlign) return;
  error(at, "Parameter '" + name + "' has illegal alignment (must be aligned to 1, 2, 4, 8, 16, 32, 64, or 128 bytes)");
}

void Parser::check_incomplete(const std::vector<Parameter>& results, const std::vector<Parameter>& parameters) {
  const auto open = [](const Parameter& each) { return each.is_array && each.size == 0; };
  for (const Parameter& each : results) {
    if (open(each)) error(each.at, "Output parameter cannot be an incomplete array.");
  }
  for (const Parameter& each : parameters) {
    if (open(each) && &each != &parameters.back())
      error(each.at, "Only the last input parameter can be an incomplete array.");
  }
}

// --- Functions -------------------------------------------------------------------------------------------------------

void Parser::function(const Linking& linking, bool is_entry) {
  Function function;
  function.is_entry = is_entry;
  function.linkage = linking.linkage;
  Shape attributes;
  if (!is_entry && cursor_.accept_dotted(".attribute")) attribute(attributes);
  if (attributes.managed) error(linking.at, "Illegal attribute '.managed' for a function");
  if (cursor_.is('(') && !is_entry) function.results = parameters();
  function.at = cursor_.where();
  function.name = cursor_.expect_name();
  if (cursor_.is('(')) function.parameters = parameters();
  while (is_entry ? tuning_directive(function) : calling_directive(function.noreturn)) {
  }
  check_tuning(function);
  check_signature(function);
  known_functions_.insert(function.name);
  // A function's declaration need not end with a semicolon, a kernel's must.
  const bool declares = !is_entry && !cursor_.is('{') && !cursor_.at_end();
  if (!cursor_.accept(';') && !declares) {
    function.has_body = true;
    if (function.linkage == Linkage::external) {
      error(function.at,
            "Function definition conflicts with '.extern' declaration for function '" + function.name + "'");
    }
    body(function);
  }
  parsed_.module.functions.push_back(std::move(function));
}

u32 Parser::count() {
  const Position at = cursor_.where();
  return checked_count(integer_expression(cursor_), at);
}

// <n>
u32 Parser::angle_count() {
  cursor_.expect('<');
  const Position at = cursor_.where();
  const Immediate value = angle_expression(cursor_);
  cursor_.expect('>');
  return checked_count(is_float(value.type) ? -1 : static_cast<i64>(value.bits), at);
}

u32 Parser::checked_count(i64 value, Position at) {
  if (value < 0 || value > INT32_MAX) Cursor::fail(at, "Value out of range");
  return static_cast<u32>(value);
}

// x, y, z of the directive whose name was just read.
Dim3 Parser::dimensions(const char* directive) {
  const Position at = cursor_.where();
  Dim3 size;
  size.x = count();
  if (cursor_.accept(',')) size.y = count();
  if (cursor_.accept(',')) size.z = count();
  if (size.count() == 0) Cursor::fail(at, std::string("Positive non-zero value expected for ") + directive);
  return size;
}

// What the directive whose name was just read counts.
u32 Parser::positive(const char* directive) {
  const Position at = cursor_.where();
  const u32 value = count();
  if (value == 0) Cursor::fail(at, std::string("Positive non-zero value expected for ") + directive);
  return value;
}

// One of those of a kernel.
bool Parser::tuning_directive(Function& function) {
  const Position at = cursor_.where();
  if (cursor_.accept_dotted(".maxntid"))
    function.max_threads = dimensions("maxntid");
  else if (cursor_.accept_dotted(".reqntid"))
    function.required_threads = dimensions("reqntid");
  else if (accept_directive(".reqnctapercluster"))
    function.required_cluster = dimensions("reqnctapercluster");
  else if (cursor_.accept_dotted(".maxnreg"))
    function.max_registers = positive("maxnreg");
  else if (cursor_.accept_dotted(".minnctapersm"))
    function.min_blocks = positive("minnctapersm");
  else if (cursor_.is_dotted(".maxnctapersm") && parsed_.module.version() < 21)
    cursor_.take(), positive("maxnctapersm");
  else if (cursor_.accept_dotted(".maxnctapersm"))
    Cursor::fail(at, "Deprecated feature: '.maxnctapersm directive' not supported as of PTX version 2.1");
  else if (accept_directive(".maxclusterrank"))
    function.max_cluster_rank = count();
  else if (accept_directive(".explicitcluster"))
    function.explicit_cluster = true;
  else if (accept_directive(".blocksareclusters"))
    function.blocks_are_clusters = true;
  else if (cursor_.accept_dotted(".pragma"))
    pragma();
  else
    return false;
  return true;
}

// One of those of a device function, or of the prototype of one. How many registers a call leaves alone is nothing to
// a machine that gives each function its own.
bool Parser::calling_directive(bool& noreturn) {
  if (accept_directive(".noreturn"))
    noreturn = true;
  else if (accept_directive(".abi_preserve") || accept_directive(".abi_preserve_control"))
    count();
  else
    return false;
  return true;
}

void Parser::check_tuning(const Function& function) {
  const bool threads = function.required_threads.count() != 0, cluster = function.required_cluster.count() != 0;
  const auto conflict = [&](const char* one, const char* other) {
    error(function.at, std::string("Conflicting directives: ") + one + " and " + other + " cannot both be specified");
  };
  if (cluster && function.max_cluster_rank != 0) conflict(".reqnctapercluster", ".maxclusterrank");
  if (threads && function.max_threads.count() != 0) conflict(".maxntid", ".reqntid");
  if (function.blocks_are_clusters && !(threads && cluster)) {
    error(function.at, ".reqntid and .reqnctapercluster directive(s) required for directive '.blocksareclusters'");
  }
}

std::vector<Parameter> Parser::parameters() {
  std::vector<Parameter> all;
  cursor_.expect('(');
  if (cursor_.accept(')')) return all;
  do all.push_back(parameter());
  while (cursor_.accept(','));
  cursor_.expect(')');
  return all;
}

Parameter Parser::parameter() {
  Parameter parameter;
  if (cursor_.accept_dotted(".reg"))
    parameter.in_register = true;
  else if (!cursor_.accept_dotted(".param"))
    cursor_.unexpected();
  const Shape how = shape(parameter.in_register ? Space::reg : Space::param);
  Variable variable;
  variable.at = cursor_.where();
  variable.type = how.type;
  variable.vector = how.vector;
  variable.align = how.align;
  variable.name = cursor_.expect_name();
  bool open = false;
  variable.dimensions = array(open);
  if (variable.dimensions.size() > 1) Cursor::fail(variable.at, "Parsing error near '[': syntax error");
  measure(variable, open);
  parameter.vector = variable.vector;
  parameter.name = std::move(variable.name);
  parameter.type = variable.type;
  parameter.size = variable.size;
  parameter.align = variable.align;
  parameter.pointer = how.pointer;
  parameter.is_array = !variable.dimensions.empty();
  parameter.at = variable.at;
  return parameter;
}

Parsed parse(std::string_view text, std::size_t limit) {
  // A driver is handed a C string: a NUL ends it.
  return Parser(text.substr(0, text.find('\0')), limit).run();
}

}  // namespace cudasim::ptx
