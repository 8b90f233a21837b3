// The parser's part for variables: their state spaces, types, dimensions and initialisers. Source: PTX ISA, "State
// spaces, types, and variables".
#include "common/simulator/memory/textures.hpp"
#include "common/simulator/ptx/parser.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

namespace cudasim::ptx {
namespace {

constexpr u64 kLargestVariable = u64{1} << 40;
constexpr u64 kLargestInitialiser = u64{1} << 31;
constexpr std::size_t kMostDimensions = 16;
constexpr u32 kMostNames = 1u << 20;  // of x<n>

// Which field a variable of an opaque type has.
bool has_field(Type type, std::string_view field) {
  constexpr std::string_view kOfArrays[] = {"width",         "height",    "depth", "channel_data_type",
                                            "channel_order", "array_size"};
  constexpr std::string_view kOfTextures[] = {"normalized_coords", "num_mipmap_levels", "num_samples"};
  constexpr std::string_view kOfSampling[] = {"addr_mode_0", "addr_mode_1", "addr_mode_2", "filter_mode"};
  const auto in = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), field) != std::end(list);
  };
  switch (type) {
    case Type::texref: return in(kOfArrays) || in(kOfTextures) || in(kOfSampling);
    case Type::surfref: return in(kOfArrays) || field == "memory_layout";
    default: return in(kOfSampling) || field == "force_unnormalized_coords";
  }
}

}  // namespace

std::optional<Space> Parser::variable_space() const {
  if (!cursor_.is_dotted()) return std::nullopt;
  const std::string_view word = cursor_.next_text();
  if (word == ".global") return Space::global;
  if (word == ".shared" || word == ".shared::cta") return Space::shared;
  if (word == ".const") return Space::constant;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  if (word == ".tex") return Space::tex;
  return std::nullopt;
}

u32 Parser::alignment() {
  const Position at = cursor_.where();
  const i64 value = integer_expression(cursor_);
  if (value <= 0 || value > (i64{1} << 20) || !std::has_single_bit(static_cast<u64>(value))) {
    Cursor::fail(at, "Alignment must be a power of two");
  }
  return static_cast<u32>(value);
}

// .attribute(.managed), .attribute(.unified(a, b)), .attribute(.managed, .unified(…))
void Parser::attribute(Shape& shape) {
  cursor_.expect('(');
  do {
    const Position at = cursor_.where();
    if (accept_directive(".managed")) {
      shape.managed = true;
    } else if (accept_directive(".unified")) {  // the two halves of an id by which a tool knows it
      shape.unified = true;
      cursor_.expect('(');
      constant_expression(cursor_);
      cursor_.expect(',');
      constant_expression(cursor_);
      cursor_.expect(')');
    } else if (cursor_.is_dotted()) {
      Cursor::fail(at, "Unknown attribute '" + Cursor::shown(cursor_.next_text()) + "'");
    } else {
      cursor_.unexpected();
    }
  } while (cursor_.accept(','));
  cursor_.expect(')');
}

// One of the dotted words before a name; false if there is no such word.
bool Parser::shape_part(Shape& shape) {
  if (!cursor_.is_dotted()) return false;
  const std::string_view word = cursor_.next_text();
  const bool has_type = shape.type != Type::none;
  if (word == ".align") {
    if (has_type) cursor_.unexpected();
    cursor_.take();
    shape.align = alignment();
  } else if (word == ".attribute") {
    cursor_.take();
    attribute(shape);
  } else if (word == ".v2" || word == ".v4") {
    cursor_.take();
    shape.vector = static_cast<u32>(word[2] - '0');
  } else if (word == ".ptr" && shape.space == Space::param) {
    cursor_.take();
    shape.pointer = true;
    // Where it points to is a hint to the compiler; so is how that is aligned.
    for (const char* space : {".global", ".const", ".local", ".shared"}) cursor_.accept_dotted(space);
    if (cursor_.accept_dotted(".align")) alignment();
  } else {
    const Type type = type_named(word.substr(1));
    if (type == Type::none) cursor_.unexpected();
    if (has_type) cursor_.unexpected();
    accept_directive(word);
    shape.type = type;
  }
  return true;
}

// Many types are those of instructions only.
void Parser::check_declared_type(const Shape& shape, Position at) {
  const std::string type = std::string(".") + name(shape.type);
  switch (shape.type) {
    case Type::bf16:
    case Type::bf16x2:
    case Type::tf32:
    case Type::ue8m0: Cursor::fail(at, "Parsing error near '" + type + "': syntax error");
    case Type::u16x2:
    case Type::s16x2:
    case Type::u8x4:
    case Type::s8x4:
    case Type::f32x2:
    case Type::e4m3:
    case Type::e5m2:
    case Type::e4m3x2:
    case Type::e5m2x2: Cursor::fail(at, "Type " + type + " may only be used as an instruction type");
    case Type::texref:
    case Type::samplerref:
    case Type::surfref:
      if (shape.vector > 1) Cursor::fail(at, "Vector type only allowed over basic types");
      if (function_ != nullptr || shape.space == Space::reg)
        Cursor::fail(at, "Texture/surface variable must be at module or entry parameter scope");
      if (shape.space != Space::global && shape.space != Space::param)
        Cursor::fail(at, "Texture and surface variables must be declared in .global space");
      if (shape.type == Type::samplerref && !parsed_.module.independent_textures)
        Cursor::fail(at, "Instruction or declaration violates .target texmode_unified setting");
      break;
    default: break;
  }
  if (shape.space == Space::param && shape.type == Type::f16x2)
    Cursor::fail(at, "Variable '" + Cursor::shown(cursor_.next_text()) + "' cannot be allocated in .param state space");
}

// The [2] of .const[2]: PTX ISA, "Banked constant state space (deprecated)".
u32 Parser::bank() {
  cursor_.expect('[');
  const Position at = cursor_.where();
  const i64 number = integer_expression(cursor_);
  cursor_.expect(']');
  const u32 version = parsed_.module.version();
  if (version >= 22) {
    error(at, "Deprecated feature: 'explicit constant banks' not supported as of PTX version 2.2");
  } else if (version < 15 && number != 0) {
    error(at, "Feature 'banked constants' requires PTX ISA .version 1.5 or later");
  } else if (number < 0 || number > 10) {
    error(at, "Illegal bank number: " + std::to_string(number));
  }
  return static_cast<u32>(number);
}

Parser::Shape Parser::shape(Space space) {
  Shape shape;
  shape.space = space;
  if (space == Space::constant && cursor_.is('[')) shape.bank = bank();
  const Position at = cursor_.where();
  while (shape_part(shape)) {
  }
  if (shape.type == Type::none) cursor_.unexpected();
  check_declared_type(shape, at);
  if (shape.type == Type::pred && space != Space::reg) {
    Cursor::fail(at, "Predicate variable '" + Cursor::shown(cursor_.next_text()) + "' must be in register state space");
  }
  if (bits(shape.type) != 0 && bits(shape.type) < 8) {
    Cursor::fail(at, std::string("Illegal type '.") + name(shape.type) + "' for a variable");
  }
  if (shape.vector * bits(shape.type) > 128) Cursor::fail(at, "Vector type too large, exceeds 128 bit limit");
  return shape;
}

std::vector<Variable> Parser::variables(Space space, Linkage linkage) {
  cursor_.take();
  const Shape how = shape(space);
  std::vector<Variable> all;
  do {
    for (Variable& each : variable(how, linkage)) all.push_back(std::move(each));
  } while (cursor_.accept(','));
  cursor_.expect(';');
  return all;
}

// The sizes in [brackets]; `open`: the first is left out.
std::vector<u64> Parser::array(bool& open) {
  std::vector<u64> sizes;
  while (cursor_.is('[')) {
    const Position at = cursor_.where();
    cursor_.take();
    u64 size = 0;
    if (cursor_.is(']')) {
      if (!sizes.empty()) cursor_.unexpected();
      open = true;
    } else {
      const i64 value = integer_expression(cursor_);
      if (value < 0) Cursor::fail(at, "Array size must not be negative");
      size = static_cast<u64>(value);
    }
    cursor_.expect(']');
    if (sizes.size() == kMostDimensions) Cursor::fail(at, "Too many array dimensions");
    sizes.push_back(size);
  }
  return sizes;
}

// Works out size and alignment from type and dimensions.
void Parser::measure(Variable& variable, bool open) {
  const bool opaque =
      variable.type == Type::texref || variable.type == Type::samplerref || variable.type == Type::surfref;
  const u64 element = opaque ? 8 : u64{bytes(variable.type)} * variable.vector;
  if (variable.align == 0) variable.align = static_cast<u32>(std::max<u64>(std::bit_ceil(element), 1));
  variable.size = element;
  for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
    const u64 size = i == 0 && open ? 0 : variable.dimensions[i];
    if (size != 0 && variable.size > kLargestVariable / size) {
      Cursor::fail(variable.at, "Variable '" + Cursor::shown(variable.name) + "' is too large");
    }
    variable.size *= size;
  }
}

// Reads what follows the equals sign into Variable::data and ::relocations.
struct Parser::Initialiser {
  Parser& parser;
  Variable& variable;
  bool open;        // the first dimension is counted here
  u64 written = 0;  // elements, in the order of memory
  u64 outermost = 0;

  u64 element() const { return bytes(variable.type); }
  [[noreturn]] static void type_mismatch(Position at) { Cursor::fail(at, "Initial value type mismatch"); }
  [[noreturn]] static void too_many(Position at) {
    Cursor::fail(at, "Greater number of elements in array initializer");
  }

  // Elements of the type in one element of dimension `level`.
  u64 stride(std::size_t level) const {
    u64 count = variable.vector;
    for (std::size_t i = level + 1; i < variable.dimensions.size(); ++i) count *= variable.dimensions[i];
    return count;
  }
  std::size_t levels() const { return variable.dimensions.size() + (variable.vector > 1 ? 1 : 0); }

  void whole() {
    if (levels() == 0) return value();
    if (!parser.cursor_.is('{')) type_mismatch(parser.cursor_.where());
    list(0, open ? kLargestInitialiser : total());
  }
  u64 total() const {
    u64 count = variable.vector;
    for (u64 size : variable.dimensions) count *= size;
    return count;
  }

  // { … } that fills at most `room` elements from `written` on; each inner dimension has braces of its own. What is
  // left out of them is not skipped, as in C: drivers put the next list's elements there, and zeros at the end.
  void list(std::size_t level, u64 room) {
    parser.cursor_.expect('{');
    const u64 start = written;
    const bool innermost = level + 1 >= levels();
    const u64 inner = level >= variable.dimensions.size() ? 1 : stride(level);
    if (parser.cursor_.accept('}')) return;
    do {
      const Position at = parser.cursor_.where();
      if (written - start >= room) too_many(at);
      const u64 begin = written;
      if (level == 0) ++outermost;
      if (innermost) {
        value();
      } else if (parser.cursor_.is('{')) {
        list(level + 1, inner);
        const bool vector = level + 1 == variable.dimensions.size();
        if (vector && written - begin != variable.vector)
          Cursor::fail(at, "Incorrect number of elements in vector initializer");
      } else {
        type_mismatch(at);
      }
    } while (parser.cursor_.accept(','));
    parser.cursor_.expect('}');
  }

  void value() {
    const Position at = parser.cursor_.where();
    if (written * element() >= kLargestInitialiser) too_many(at);
    const std::size_t offset = written * element();
    ++written;
    if (parser.cursor_.is_name() && parser.cursor_.next_text() != "WARP_SZ") return symbol(offset, std::nullopt, at);
    const Immediate number = constant_expression(parser.cursor_);
    if (parser.cursor_.accept('(')) {  // 0xff00(symbol): one byte of its address
      parser.require("mask()", at);
      symbol(offset, number.bits, at);
      return parser.cursor_.expect(')');
    }
    store(offset, number, at);
  }

  // symbol, symbol + 4, generic(symbol) + 4; what a mask is put before as well. The symbol has been declared before.
  void symbol(u64 offset, std::optional<u64> mask, Position at) {
    Relocation relocation;
    relocation.at = at;
    relocation.offset = offset;
    relocation.size = static_cast<u32>(element());
    std::string_view name = parser.cursor_.expect_name();
    const bool function = parser.cursor_.is('(');
    if (function && name == "generic") {
      parser.cursor_.take();
      relocation.generic = true;
      name = parser.cursor_.expect_name();
      parser.cursor_.expect(')');
    } else if (function) {
      parser.cursor_.unexpected();
    }
    relocation.symbol = name;
    relocation.addend += addend();
    const bool is_function = parser.known_functions_.count(relocation.symbol) != 0;
    if (!is_function && parser.known_variables_.count(relocation.symbol) == 0) {
      Cursor::fail(at, "Invalid initial value symbol '" + Cursor::shown(relocation.symbol) + "'");
    }
    if (is_function && relocation.generic) Cursor::fail(at, "Invalid initial value expression");
    if (is_function && relocation.addend != 0) type_mismatch(at);
    if (mask) {
      const int low = *mask == 0 ? 1 : std::countr_zero(*mask);
      if (low % 8 != 0 || *mask >> low != 0xff) Cursor::fail(at, "Mask must select one byte of an address");
      relocation.masked = true;
      relocation.byte = static_cast<u32>(low / 8);
      if (relocation.size != 1) Cursor::fail(at, "Mask operator requires an initializer of 8 bits");
      if (!is_unsigned(variable.type)) type_mismatch(at);
    } else if (variable.type != Type::u32 && variable.type != Type::u64) {
      type_mismatch(at);
    }
    variable.relocations.push_back(std::move(relocation));
  }

  i64 addend() { return parser.cursor_.accept('+') ? integer_expression(parser.cursor_) : 0; }

  // Integers for integers, floats for floats; untyped bits take both.
  void store(u64 offset, const Immediate& number, Position at) {
    if (variable.type == Type::f16 || variable.type == Type::bf16) {
      Cursor::fail(at, std::string("No initial value is allowed for .") + name(variable.type) + " type");
    }
    Immediate typed = number;
    if (variable.type == Type::b32 && number.type == Type::f64) {
      typed = {convert_immediate(number, Type::f32).value_or(0), Type::f32};
    }
    const std::optional<u64> bits = convert_immediate(typed, variable.type);
    if (!bits) type_mismatch(at);
    if (variable.data.size() < offset + element()) variable.data.resize(offset + element());
    for (u64 i = 0; i < element(); ++i)
      variable.data[offset + i] = static_cast<std::byte>(i < 8 ? *bits >> (8 * i) : 0);
  }
};

std::vector<Variable> Parser::variable(const Shape& shape, Linkage linkage) {
  Variable variable;
  variable.at = cursor_.where();
  variable.name = cursor_.expect_name();
  variable.space = shape.space;
  variable.linkage = linkage;
  variable.type = shape.type;
  variable.vector = shape.vector;
  variable.align = shape.align;
  variable.managed = shape.managed;
  variable.pointer = shape.pointer;
  variable.bank = shape.bank;
  if (shape.space != Space::global && (shape.managed || shape.unified)) {
    const char* which = shape.managed ? ".managed" : ".unified";
    error(variable.at, std::string("Illegal attribute '") + which + "' for symbol '" + variable.name + "'");
  }
  if (cursor_.is('<')) {  // x<4> declares x0 … x3
    const u32 many = angle_count();
    if (many > kMostNames) Cursor::fail(variable.at, "Too many variables");
    measure(variable, false);
    std::vector<Variable> all(many, variable);
    for (u32 i = 0; i < many; ++i) {
      all[i].name += std::to_string(i);
      if (function_ == nullptr) known_variables_.insert(all[i].name);
    }
    return all;
  }
  bool open = false;
  variable.dimensions = array(open);
  measure(variable, open);
  if (cursor_.accept('=')) {
    if (shape.space != Space::global && shape.space != Space::constant) {
      Cursor::fail(variable.at, "No initial value is allowed for '" + variable.name + "' in this state space");
    }
    if (bits(variable.type) == 0) {
      opaque_state(variable);
    } else {
      Initialiser initialiser{*this, variable, open};
      initialiser.whole();
      if (open) {
        variable.dimensions[0] = initialiser.outermost;
        measure(variable, false);
      }
      open = false;
    }
  }
  if (variable.bank != 0 && !(open && linkage == Linkage::external))
    error(variable.at, "Constant banks 1..11 are reserved for external incomplete arrays");
  if (linkage == Linkage::common && shape.space != Space::global) {
    error(variable.at, ".common variables must be declared in .global space");
  }
  if (function_ == nullptr) known_variables_.insert(variable.name);
  const bool empty = !variable.dimensions.empty() && variable.dimensions[0] == 0;
  if ((open || empty) && linkage != Linkage::external && shape.space != Space::param) {
    error(variable.at, "Non-external variable '" + variable.name + "' has incomplete type");
  }
  return {std::move(variable)};
}

// .samplerref s = { addr_mode_0 = wrap, filter_mode = linear }: PTX ISA, "Opaque types". It becomes the variable's
// content, a SamplerState. The host binds .texref and .surfref variables; their initialisers are ignored.
void Parser::opaque_state(Variable& variable) {
  if (!variable.dimensions.empty()) Cursor::fail(cursor_.where(), "Initializers of opaque arrays are not simulated");
  SamplerState state;
  cursor_.expect('{');
  do {
    const Position at = cursor_.where();
    const std::string field(cursor_.expect_name());
    if (!has_field(variable.type, field))
      Cursor::fail(at, "Unrecognized field name '" + Cursor::shown(field) + "' in opaque struct initializer");
    cursor_.expect('=');
    opaque_field(state, field);
  } while (cursor_.accept(','));
  cursor_.expect('}');
  variable.data.resize(sizeof state);
  std::memcpy(variable.data.data(), &state, sizeof state);
}

void Parser::opaque_field(SamplerState& state, std::string_view field) {
  constexpr std::pair<std::string_view, u8> kModes[] = {{"wrap", u8(Addressing::wrap)},
                                                        {"mirror", u8(Addressing::mirror)},
                                                        {"clamp_ogl", u8(Addressing::clamp)},
                                                        {"clamp_to_edge", u8(Addressing::clamp)},
                                                        {"clamp_to_border", u8(Addressing::border)}};
  constexpr std::pair<std::string_view, u8> kFilters[] = {{"nearest", 0}, {"linear", 1}};
  constexpr std::pair<std::string_view, u8> kTruths[] = {{"0", 0}, {"1", 1}};
  const Position at = cursor_.where();
  std::string value;
  if (cursor_.is_name() && cursor_.next_text() != "WARP_SZ") {
    value = cursor_.text(cursor_.take());
    const auto is_value = [&](const auto& each) { return each.first == value; };
    if (std::none_of(std::begin(kModes), std::end(kModes), is_value) &&
        std::none_of(std::begin(kFilters), std::end(kFilters), is_value))
      Cursor::fail(at, "Unrecognized initial value symbol '" + Cursor::shown(value) + "'");
  } else {
    const Immediate number = constant_expression(cursor_);
    value = is_float(number.type) ? "a float" : std::to_string(static_cast<i64>(number.bits));
  }
  // ptxas takes any value for any field; what most of those mean is not written anywhere.
  const auto one_of = [&](std::span<const std::pair<std::string_view, u8>> values) {
    for (const auto& [name, code] : values) {
      if (name == value) return code;
    }
    Cursor::fail(at, "Initial value " + value + " of '" + std::string(field) + "' is not simulated");
  };
  if (field.starts_with("addr_mode_")) {
    state.addressing[field.back() - '0'] = one_of(kModes);
  } else if (field == "filter_mode") {
    state.linear = one_of(kFilters);
  } else if (field == "force_unnormalized_coords") {
    state.unnormalized = one_of(kTruths);
  } else if (field == "normalized_coords") {
    state.unnormalized = one_of(kTruths) == 0;
  }
}

}  // namespace cudasim::ptx
