// What a PTX text says, once it is parsed: the data that the parser hands to the resolver. No addresses, no slots yet.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/types.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudasim::ptx {

// A position in the PTX text; both count from 1.
struct Position {
  u32 line = 0, column = 0;
};

enum class Linkage : u8 { local, visible, external, weak, common };

// A name in an initialiser: { symbol + addend }, generic(symbol) included, mask(…) for one byte of an address.
struct Relocation {
  u64 offset = 0;  // bytes from the start of the variable
  u32 size = 8;    // bytes written
  std::string symbol;
  i64 addend = 0;
  bool generic = false;
  u32 byte = 0;  // for mask(): which byte of the address
  bool masked = false;
  Position at;
};

struct Variable {
  std::string name;
  Space space = Space::generic;
  Linkage linkage = Linkage::local;
  Type type = Type::none;
  u32 vector = 1;               // .v2, .v4
  std::vector<u64> dimensions;  // of an array; an extern array's first may be 0 (unsized)
  u64 size = 0;                 // bytes, all elements
  u32 align = 1;
  std::vector<std::byte> data;  // the initialiser; shorter than size: the rest is zero
  std::vector<Relocation> relocations;
  bool managed = false;
  bool pointer = false;  // a `.ptr` parameter
  u32 bank = 0;          // .const[bank]
  Position at;
};

struct Operand;

// A register, or a variable's or function's name: which one it is, the resolver decides by scope. `selector` is what
// follows a dot: an element of a vector register (x, y, z, w, r, g, b, a), the part of a special register (%tid.x), or
// what a video instruction selects (b0 … b3, b3210, h0, h1, h10).
struct Name {
  std::string text, selector;
};
struct Immediate {
  u64 bits = 0;           // an integer, or the bits of a float
  Type type = Type::s64;  // s64 or u64 for integers, f32 for 0f…, f64 for 0d… and decimal floats
};
struct Address {  // [base + offset]; base empty: absolute. For textures, [object, {coordinates}]: see Operand::elements
  std::string base;
  i64 offset = 0;
};
struct Sink {};  // _

struct Operand {
  std::variant<Sink, Name, Immediate, Address> value;
  std::vector<Operand> elements;  // {a, b, c, d}; of a memory operand: what follows the comma inside the brackets
  bool is_vector = false;  // written with braces
  bool negated = false;  // !p
  i64 addend = 0;  // of Name: symbol + addend
  i64 index = 0;  // of Name: symbol[index], in elements of the array
  bool indexed = false;  // of Name: there is an index, be it 0
  std::string index_register;  // of Name: symbol[register]
  std::shared_ptr<Operand> pair;  // the q of p|q
  Position at;
};

// A `call`'s or `brx.idx`'s further parts live in the operands, in the order in which they are written:
//   call (ret…), target, (args…), table;  →  operands: vector ret, Name target, vector args, Name table (missing ones:
//   Sink)
struct Statement {
  std::string opcode;  // "add"
  std::vector<std::string> modifiers;  // "rn", "ftz", "f32": what follows the dots, in order ("shared::cta" is one)
  std::string guard;  // register of @p; empty: none
  bool guard_negated = false;
  std::vector<Operand> operands;
  u32 scope = 0;  // index in Function::scopes
  Position at;
  SourceLine source;
};

// One { … } in a body; its names shadow those of the parent. scopes[0] is the body itself.
struct Scope {
  u32 parent = 0;
  std::vector<u32> registers;  // indices in Function::registers
  std::vector<u32> variables;  // indices in Function::variables
};

struct Register {
  std::string name;
  Type type = Type::none;
  u32 vector = 1;
  u32 count = 0;  // %r<100> declares %r0 … %r99: count 100; 0: one register of exactly this name
  Position at;
};

struct Label {
  std::string name;
  u32 statement = 0;  // the index of the statement that follows
  u32 scope = 0;
  Position at;
};

struct BranchTable {  // name: .branchtargets a, b, c;   or   name: .calltargets f, g;
  std::string name;
  std::vector<std::string> targets;
  u32 scope = 0;
};

struct Parameter {
  std::string name;
  Type type = Type::none;
  u64 size = 0;  // bytes
  u32 align = 1;
  u32 vector = 1;
  bool in_register = false;  // .reg parameter of a device function
  bool pointer = false;
  bool is_array = false;  // .b8 p[16]; size 0: p[]
  Position at;
};

struct Prototype {  // .callprototype
  std::string name;
  std::vector<Parameter> results, parameters;
  bool noreturn = false;
  u32 scope = 0;
};

struct Function : Directives {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  Linkage linkage = Linkage::local;
  bool noreturn = false;
  std::string alias_of;  // .alias name, target
  std::vector<Parameter> results, parameters;
  std::vector<Scope> scopes;
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Statement> statements;
  std::vector<Label> labels;
  std::vector<BranchTable> tables;
  std::vector<Prototype> prototypes;
  Position at;
};

struct Module {
  u32 version_major = 0, version_minor = 0;
  u32 version() const { return version_major * 10 + version_minor; }  // 78 for 7.8
  u32 target = 0;  // 90 for sm_90
  std::string target_name;  // "sm_90a"
  bool debug = false;
  u32 address_size = 64;
  bool independent_textures = false;  // .target texmode_independent: samplers are variables of their own
  std::vector<std::string> files;  // by the index of .file; [0] unused
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::string text;  // the PTX itself, for diagnostics
};

// The bits of an immediate as a value of `type`; none where PTX has no such conversion (a float for an integer type,
// …).
std::optional<u64> convert_immediate(const Immediate& immediate, Type type);

// What is wrong with a text, in the form of ptxas: "ptxas <input>, line N; error   : …". What is said of the whole
// text, like its size, has no line there: "ptxas error   : …".
struct Diagnostic {
  enum Kind : u8 { syntax, unsupported, version, target, unresolved, whole_text } kind = syntax;
  Position at;
  std::string message;
};

// Of a constant bank that a text uses.
inline std::string unknown_bank(u32 bank) {
  return "Constant bank " + std::to_string(bank) + " is not simulated: the driver API has no call that fills it";
}

// Parses the whole text. At most `limit` errors are collected; a Module with errors must not be resolved.
// Never throws for bad input, never recurses deeper than a fixed bound. Source: PTX ISA, "Syntax", "Directives".
struct Parsed {
  Module module;
  std::vector<Diagnostic> errors, warnings;
};
Parsed parse(std::string_view text, std::size_t limit = 20);

}  // namespace cudasim::ptx
