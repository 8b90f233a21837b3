// What the parser makes of PTX's syntax: directives, declarations, operands, constants, mistakes.
#include "common/simulator/ptx/module.hpp"
#include "common/simulator/ptx/version.hpp"
#include "tests/catch.hpp"

#include <cstring>
#include <string>

using namespace cudasim;
using namespace cudasim::ptx;

namespace {

const std::string kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

Module parsed(const std::string& text) {
  Parsed result = parse(kHeader + text);
  CAPTURE(text);
  for (const Diagnostic& error : result.errors) {
    CAPTURE(error.message);
    CHECK(result.errors.empty());
  }
  return std::move(result.module);
}

Function body_of(const std::string& body) {
  const Module module = parsed(".entry k() {" + body + "\n}");
  REQUIRE(module.functions.size() == 1);
  return module.functions[0];
}

Statement only_statement(const std::string& body) {
  const Function function = body_of(body);
  REQUIRE(function.statements.size() == 1);
  return function.statements[0];
}

std::string first_error(const std::string& text) {
  const Parsed result = parse(text);
  return result.errors.empty() ? "" : result.errors[0].message;
}

std::string name_of(const Operand& operand) {
  const Name* name = std::get_if<Name>(&operand.value);
  return name == nullptr ? "" : name->selector.empty() ? name->text : name->text + "." + name->selector;
}

Immediate number(const std::string& text) {
  const Statement statement = only_statement("mov.b64 %rd1, " + text + ";");
  REQUIRE(std::holds_alternative<Immediate>(statement.operands.at(1).value));
  return std::get<Immediate>(statement.operands[1].value);
}

u64 constant(const std::string& text) {
  const Module module = parsed(".global .u64 x = " + text + ";");
  u64 value = 0;
  std::memcpy(&value, module.variables.at(0).data.data(), 8);
  return value;
}

}  // namespace

TEST_CASE("An instruction is an opcode, modifiers, operands and a guard") {
  const Statement add = only_statement("@!%p1 add.rn.ftz.f32 %f1, %f2, 0f3F800000;");
  CHECK(add.opcode == "add");
  CHECK(add.modifiers == std::vector<std::string>{"rn", "ftz", "f32"});
  CHECK(add.guard == "%p1");
  CHECK(add.guard_negated);
  REQUIRE(add.operands.size() == 3);
  CHECK(name_of(add.operands[0]) == "%f1");
  CHECK(std::get<Immediate>(add.operands[2].value).bits == 0x3f800000u);
  CHECK(add.at.line == 4);
}

TEST_CASE("Modifiers may hold colons and start with digits") {
  CHECK(only_statement("tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1,%r2}];").modifiers ==
        std::vector<std::string>{"2d", "v4", "f32", "s32"});
  CHECK(only_statement("mbarrier.arrive.shared::cta.b64 _, [%r1];").modifiers[1] == "shared::cta");
  CHECK(only_statement("ld.global.L1::no_allocate.L2::128B.u32 %r1, [%rd1];").modifiers[2] == "L2::128B");
}

TEST_CASE("Memory operands have a base and an offset") {
  struct Row {
    const char* text;
    const char* base;
    i64 offset;
  };
  const Row rows[] = {
      {"[%rd1]", "%rd1", 0}, {"[%rd1+4]", "%rd1", 4}, {"[%rd+-1024]", "%rd", -1024},   {"[x+2*8]", "x", 16},
      {"[4096]", "", 4096},  {"[-4096U]", "", -4096}, {"[ %rd1 + 0x10 ]", "%rd1", 16},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Statement load = only_statement(std::string("ld.u32 %r1, ") + row.text + ";");
    REQUIRE(load.operands.size() == 2);
    REQUIRE(std::holds_alternative<Address>(load.operands[1].value));
    const Address address = std::get<Address>(load.operands[1].value);
    CHECK(address.base == row.base);
    CHECK(address.offset == row.offset);
  }
}

TEST_CASE("Operands may be vectors, pairs, negated, selected, ignored") {
  const Statement load = only_statement("ld.v4.u32 {%r1,_,%r3, %r4}, [%rd1];");
  REQUIRE(load.operands[0].elements.size() == 4);
  CHECK(std::holds_alternative<Sink>(load.operands[0].elements[1].value));
  const Statement compare = only_statement("setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;");
  REQUIRE(compare.operands[0].pair != nullptr);
  CHECK(name_of(*compare.operands[0].pair) == "%p2");
  CHECK(compare.operands[3].negated);
  CHECK(name_of(only_statement("mov.u32 %r1, %tid.x;").operands[1]) == "%tid.x");
  CHECK(name_of(only_statement("vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1, %r4;").operands[1]) == "%r2.b0");
  const Statement address = only_statement("mov.u64 %rd1, table+8;");
  CHECK(address.operands[1].addend == 8);
  const Statement texture = only_statement("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex0, smp0, {%f5,%f6}];");
  REQUIRE(texture.operands[1].elements.size() == 2);
  CHECK(texture.operands[1].elements[1].is_vector);
}

TEST_CASE("A call's parts have their places, over as many lines as they take") {
  const Statement call = only_statement("call.uni (retval0), \nvprintf, \n(\nparam0, \nparam1\n);");
  REQUIRE(call.operands.size() == 4);
  CHECK(name_of(call.operands[0].elements.at(0)) == "retval0");
  CHECK(name_of(call.operands[1]) == "vprintf");
  CHECK(call.operands[2].elements.size() == 2);
  CHECK(std::holds_alternative<Sink>(call.operands[3].value));
  const Statement indirect = only_statement("call %rd1, (a), proto;");
  CHECK(std::holds_alternative<Sink>(indirect.operands[0].value));
  CHECK(name_of(indirect.operands[3]) == "proto");
  CHECK(name_of(only_statement("call foo;").operands[1]) == "foo");
}

TEST_CASE("Literals are decimal, octal, binary, hexadecimal, with a suffix, or floats bit by bit") {
  CHECK(number("42").bits == 42);
  CHECK(number("052").bits == 42);
  CHECK(number("0b101010").bits == 42);
  CHECK(number("0x2A").bits == 42);
  CHECK(number("42U").type == Type::u64);
  CHECK(number("-4096U").bits == u64(-4096));
  CHECK(number("18446744073709551615").type == Type::u64);
  CHECK(number("0f40490fdb").bits == 0x40490fdbu);
  CHECK(number("0d400921FB54442D18").bits == 0x400921FB54442D18u);
  CHECK(number("1.5").bits == 0x3ff8000000000000u);
  CHECK(number("-0f3F800000").bits == 0xbf800000u);
  CHECK(number("1e3").type == Type::f64);
}

TEST_CASE("Constant expressions follow C") {
  CHECK(constant("1 + 2 * 3") == 7);
  CHECK(constant("(1 + 2) * 3") == 9);
  CHECK(constant("7 / -2") == u64(-3));
  CHECK(constant("7 % 4 << 2") == 12);
  CHECK(constant("-8 >> 1") == u64(-4));
  CHECK(constant("0x8000000000000000 >> 63") == 1);
  CHECK(constant("1 < 2 && 3 != 4") == 1);
  CHECK(constant("!5 | ~0 & 6 ^ 1") == 7);
  CHECK(constant("1 ? 10 : 20") == 10);
  CHECK(constant("0 ? 10 : 0 ? 20 : 30") == 30);
  CHECK(constant("WARP_SZ * 2") == 64);
  CHECK(constant("(.u64)-1 > 0") == 1);
  CHECK(constant("(.s64)0x8000000000000000 / -1") == 0x8000000000000000u);
}

TEST_CASE("Registers are declared one by one, by the hundred, or as vectors, and anywhere in a body") {
  const Function function = body_of(".reg .b32 %r<100>, a; { .reg .v4 .f32 v; add.u32 a, a, a; .reg .pred p; }");
  REQUIRE(function.registers.size() == 4);
  CHECK(function.registers[0].count == 100);
  CHECK(function.registers[1].count == 0);
  CHECK(function.registers[2].vector == 4);
  REQUIRE(function.scopes.size() == 2);
  CHECK(function.scopes[1].registers == std::vector<u32>{2, 3});
  CHECK(function.statements[0].scope == 1);
}

TEST_CASE("Labels need no blanks, and name tables and prototypes too") {
  const Function function = body_of(
      "$L__1:ret;L2:L3: ts: .branchtargets $L__1, L2; ct: .calltargets f, g;"
      "p0: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;");
  REQUIRE(function.labels.size() == 3);
  CHECK(function.labels[0].name == "$L__1");
  CHECK(function.labels[2].statement == 1);
  REQUIRE(function.tables.size() == 2);
  CHECK(function.tables[0].targets == std::vector<std::string>{"$L__1", "L2"});
  REQUIRE(function.prototypes.size() == 1);
  CHECK(function.prototypes[0].noreturn);
  CHECK(function.prototypes[0].parameters.at(1).size == 16);
}

TEST_CASE("Variables have a space, a type, a size and what they start with") {
  const Module module = parsed(
      ".visible .global .align 16 .b8 text[6] = {72, 101, 108, 108, 111};\n"
      ".const .f32 table[2][2] = {{1.0, 0f40000000}, {3.0}};\n"
      ".global .u64 pointers[2] = {text+1, generic(text)+2};\n"
      ".global .u8 byte = 0xff00(text);\n"
      ".extern .shared .align 8 .b8 dynamic[];\n"
      ".global .u16 counted[] = {1, 2, 3};\n"
      ".common .global .v4 .f32 quad;\n"
      ".global .attribute(.managed) .u32 shared_with_host;\n"
      ".weak .global .u32 a<3>;\n");
  REQUIRE(module.variables.size() == 11);
  CHECK(module.variables[0].linkage == Linkage::visible);
  CHECK(module.variables[0].align == 16);
  CHECK(module.variables[0].data.size() == 5);
  CHECK(module.variables[1].size == 16);
  CHECK(module.variables[1].data.size() == 12);
  REQUIRE(module.variables[2].relocations.size() == 2);
  CHECK(module.variables[2].relocations[1].generic);
  CHECK(module.variables[2].relocations[1].addend == 2);
  CHECK(module.variables[3].relocations.at(0).byte == 1);
  CHECK(module.variables[4].linkage == Linkage::external);
  CHECK(module.variables[4].size == 0);
  CHECK(module.variables[5].dimensions == std::vector<u64>{3});
  CHECK(module.variables[6].align == 16);
  CHECK(module.variables[7].managed);
  CHECK(module.variables[10].name == "a2");
}

TEST_CASE("Functions have parameters, results and tuning directives") {
  const Module module = parsed(
      ".extern .func gone (.param .b64 a, .param .b64 b) .noreturn;\n"
      ".func (.reg .u32 r) inc (.reg .u32 x) { add.u32 r, x, 1; ret; }\n"
      ".alias twin, inc;\n"
      ".visible .entry k(.param .u64 .ptr .global .align 4 k_p, .param .align 8 .b8 k_s[24])\n"
      ".maxntid 128, 2 .minnctapersm 3 .maxnreg 64 .reqnctapercluster 2 .explicitcluster { ret; }\n");
  REQUIRE(module.functions.size() == 4);
  CHECK(module.functions[0].noreturn);
  CHECK_FALSE(module.functions[0].has_body);
  CHECK(module.functions[1].parameters.at(0).in_register);
  CHECK(module.functions[2].alias_of == "inc");
  const Function& kernel = module.functions[3];
  CHECK(kernel.is_entry);
  CHECK(kernel.parameters.at(0).pointer);
  CHECK(kernel.parameters.at(1).size == 24);
  CHECK(kernel.max_threads.x == 128);
  CHECK(kernel.max_threads.y == 2);
  CHECK(kernel.min_blocks == 3);
  CHECK(kernel.max_registers == 64);
  CHECK(kernel.required_cluster.x == 2);
}

TEST_CASE("What is for debuggers and compilers is read past") {
  const Module module = parsed(
      ".file 1 \"a.cu\", 1700000000, 1234\n"
      ".section .debug_str { L0: .b8 95,90, 0 \n .b32 L0+4 \n .b64 a-b }\n"
      ".entry k() { .pragma \"nounroll\"; .loc 1 7 3\n ret;\n"
      ".loc 1 9 1, function_name L0, inlined_at 1 7 3\n exit; }\r\n"
      "/* a\n * comment */ // and one more\n");
  CHECK(module.files.at(1) == "a.cu");
  const Function& kernel = module.functions.at(0);
  CHECK(kernel.statements.at(0).source.line == 7);
  CHECK(kernel.statements.at(1).source.line == 9);
}

TEST_CASE("Line 0 is no line of the source, but the call's where it was inlined") {
  const Module module = parsed(
      ".file 1 \"a.cu\"\n .section .debug_str { L0: .b8 95,90, 0 }\n"
      ".entry k() { .loc 1 0 3\n ret;\n .loc 1 0 1, function_name L0, inlined_at 1 7 3\n ret;\n"
      ".loc 1 9 1, function_name L0, inlined_at 1 0 3\n ret; }");
  const Function& kernel = module.functions.at(0);
  CHECK(kernel.statements.at(0).source.file == 0);
  CHECK(kernel.statements.at(1).source.file == 1);
  CHECK(kernel.statements.at(1).source.line == 7);
  CHECK(kernel.statements.at(1).source.outer_file == 0);
  CHECK(kernel.statements.at(2).source.line == 9);
  CHECK(kernel.statements.at(2).source.outer_file == 0);
}

TEST_CASE("A mistake in the syntax is reported in ptxas's words, with its place") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {".entry k() { add.u32 %r1, %r2 %r3; }", "Parsing error near '%r3': syntax error"},
      {".entry k() { mov.u32 a, \"x; }", "Parsing error near '\"': syntax error"},
      {".entry k() { ret; ", "Parsing error near '': syntax error"},
      {".entry k() { /* ret; }", "Parsing error near '': unexpected EOF while scanning"},
      {".entry k() .foo { }", "Parsing error near '.foo': syntax error"},
      {".entry k() { .reg .pred p<2>; .reg .pred p<3>; }", "Duplicate definition of variable 'p'"},
      {".entry k() { L: L: ret; }", "Duplicate definition of label 'L'"},
      {".global .u32 x[2] = {1, 2, 3};", "Greater number of elements in array initializer"},
      {".global .u32 x[2][2] = {1, 2, 3, 4};", "Initial value type mismatch"},
      {".global .f32 x = 1;", "Initial value type mismatch"},
      {".global .u32 x = 1.5 + 1;", "Constant expression type mismatch"},
      {".entry k() { ld.u32 %r1, [%rd1-8]; }", "Parsing error near '-': syntax error"},
      {".entry k() { ;; }", "Parsing error near ';': syntax error"},
      {".entry k() { .reg .v4 .f64 x; }", "Vector type too large, exceeds 128 bit limit"},
      {".entry k() .maxntid 0 { ret; }", "Positive non-zero value expected for maxntid"},
      {".entry k() .maxntid 64 .reqntid 64 { ret; }",
       "Conflicting directives: .maxntid and .reqntid cannot both be specified"},
      {".visible .weak .global .u32 x;", "Parsing error near '.weak': syntax error"},
      {".global .u32 x[];", "Non-external variable 'x' has incomplete type"},
      {".global .u32 x[99999999999999];", "Variable 'x' is too large"},
      {".global .u32 x[-1];", "Array size must not be negative"},
      {".global .align 3 .u32 x;", "Alignment must be a power of two"},
      {".global .u32 x = 1/0;", "Division by zero in constant expression"},
      {".global .foo x;", "Parsing error near '.foo': syntax error"},
      {".global .u32 x = 0f12;", "Parsing error near '0f12': not a number that PTX knows"},
      {".global .u32 x = 99999999999999999999;", "Constant overflow"},
      {".shared .u32 x = 1;", "No initial value is allowed for 'x' in this state space"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(first_error(kHeader + row.text) == row.message);
  }
  const Parsed result = parse(kHeader + ".entry k() {\n  foo.bar %r1 %r2;\n  ret;\n  add.u32 (;\n}\n");
  REQUIRE(result.errors.size() == 1);  // what follows a syntax error is not looked at
  CHECK(result.errors[0].at.line == 5);
  CHECK(result.errors[0].at.column == 15);
  const Parsed several = parse(kHeader + ".shared .align 3 .b8 x;\n.shared .u32 y = 1;\n.foo;\n.align;\n");
  REQUIRE(several.errors.size() == 3);
  CHECK(several.errors[1].at.line == 5);
  CHECK(several.errors[2].message == "Parsing error near '.foo': syntax error");
}

TEST_CASE("A text that no driver of this version takes is refused at its header") {
  const auto kind = [](const std::string& text) {
    const Parsed result = parse(text);
    REQUIRE(result.errors.size() == 1);
    return result.errors[0].kind;
  };
  CHECK(kind("this is not ptx") == Diagnostic::syntax);
  CHECK(kind("") == Diagnostic::syntax);
  CHECK(kind(".version 99.0\n.target sm_90\n~~~") == Diagnostic::version);
  CHECK(kind(".version 8.7\n.target sm_100\n") == (newest_ptx() >= 87 ? Diagnostic::target : Diagnostic::version));
  CHECK(kind(".version 8.0\n.target sm_9z\n") == Diagnostic::target);
  CHECK(kind(".version 6.0\n.target sm_90\n") == Diagnostic::target);
  CHECK(parse(".version 8.0\n.target sm_90a\n.entry k(){ret;}").errors.empty());
  CHECK(parse(".version 8.0\n.target sm_90\n.target sm_80\n.entry k(){ret;}").module.target == 90);
  CHECK(kind(".version 8.0\n.target sm_80\n.entry k(){ret;}\n.target sm_90\n") == Diagnostic::syntax);
  CHECK(kind(".version 8.9\n.target sm_90\n") == Diagnostic::version);  // there never was one
  for (const char* version : {"0.9", "1.6", "2.4", "3.3", "4.4", "5.2", "6.6", "7.9", "9.9"}) {
    CAPTURE(version);
    CHECK(parse(std::string(".version ") + version + "\n.target sm_10\n.entry k(){ret;}").errors.size() == 1);
  }
  for (const char* version : {"1.0", "1.2", "1.5", "2.3", "3.2", "4.3", "5.1", "6.5", "7.00", "7.8", "8.10", "8.8"}) {
    CAPTURE(version);
    CHECK(parse(std::string(".version ") + version + "\n.target sm_10\n.entry k(){ret;}").errors.empty());
  }
}

TEST_CASE("What .target says beside the architecture comes behind it, and must agree") {
  const auto of = [](const std::string& target, const std::string& more = "") {
    return first_error(".version 9.0\n.target " + target + "\n.entry k(){ret;}\n" + more);
  };
  const std::string first = "Target architecture not defined at start of file 'application ptx input'";
  CHECK(of("debug, sm_90", ".section .debug_str { }") == first);
  CHECK(of("texmode_unified, sm_90") == first);
  CHECK(of("map_f64_to_f32") == first);
  CHECK(of("sm_90, texmode_unified, texmode_unified") == "");
  CHECK(of("sm_90, texmode_unified, texmode_independent") == "Conflicting .target option 'texmode_independent'");
  CHECK(of("sm_12, map_f64_to_f32") == "");
  CHECK(of("sm_13, map_f64_to_f32") == "Directive map_f64_to_f32 is not supported with SM 1.3 or higher");
  CHECK(of("sm_90, debug") == "Debug information not found in presence of .target debug");
  CHECK(of("sm_90, debug", ".section .debug_abbrev { }") == "");
  CHECK(parse(".version 6.0\n.target sm_35, debug\n.section .debug_info { .b8 1 }").module.debug);
  CHECK(of("sm_21") == "");
  CHECK(of("compute_50") == "");
  CHECK(parse(".version 9.0\n.target compute_90a\n").module.target_name == "sm_90a");
  CHECK(of("compute_91") == "Unsupported .target 'compute_91'");
}

TEST_CASE("A section holds numbers, labels and distances") {
  const std::pair<const char*, const char*> rows[] = {
      {".section .debug_info { .b8 255, -128 .b16 65535, -32768 .b32 0xfffffffff .b64 0xffffffffffffffff }", ""},
      {".section .debug_info { a: .b32 a, a+4, .debug_line .b64 .debug_line+8, b .b8 b-a b: }", ""},
      {".section .debug_info { .b8 256 }", "Value out of range for type .b8 256"},
      {".section .debug_info { .b8 -129 }", "Value out of range for type .b8 -129"},
      {".section .debug_info { .b16 65536 }", "Value out of range for type .b16 65536"},
      {".section .debug_info { .b32 -2147483649 }", "Value out of range for type .b32 -2147483649"},
      {".section .debug_info { .u8 1 }", "Illegal type for dwarf data"},
      {".section .debug_info { .b128 1 }", "Illegal type for dwarf data"},
      {".section .debug_info { .b8 a }", "Illegal type for dwarf data"},
      {".section .debug_info { .b16 .debug_line }", "Illegal type for dwarf data"},
      {".section .debug_info { .b8 1 2 }", "Parsing error near '2': syntax error"},
      {".section .debug_info { .b8 1, }", "Parsing error near '}': syntax error"},
      {".section .debug_info { .b8 1+2 }", "Parsing error near '+': syntax error"},
      {".section .debug_info { .b8 1; }", "Parsing error near ';': syntax error"},
      {".section .debug_info { .b32 1.5 }", "Parsing error near '1.5': syntax error"},
      {".section .debug_info { .b32 a-4 }", "Parsing error near '4': syntax error"},
      {".section .debug_info { .foo 1 }", "Parsing error near '.foo': syntax error"},
      {".section .debug_info { {.b8 1} }", "Parsing error near '{': syntax error"},
      {".section debug { .b8 1 }", "Parsing error near 'debug': syntax error"},
      {".section .u32 { .b8 1 }", "Parsing error near '.u32': syntax error"},
  };
  for (const auto& [text, message] : rows) {
    CAPTURE(text);
    CHECK(first_error(kHeader + text) == message);
  }
}

TEST_CASE("Nesting has a bound, but scopes have none") {
  CHECK(first_error(kHeader + ".global .u32 x = " + std::string(100'000, '(')) ==
        "Constant expression nested too deeply");
  CHECK(first_error(kHeader + ".global .u32 x = " + std::string(100'000, '-')) ==
        "Constant expression nested too deeply");
  CHECK(first_error(kHeader + ".global .u32 x[1] = " + std::string(100'000, '{')) != "");
  CHECK(first_error(kHeader + ".entry k() { add.u32 " + std::string(100'000, '{')) != "");
  CHECK(first_error(kHeader + ".entry k() " + std::string(100'000, '{') + std::string(100'000, '}')) == "");
}

TEST_CASE("What came later than the rest of PTX needs its version and its architecture") {
  struct Row {
    const char* text;
    const char* name;
    u32 version, target;  // the first that have it; 0: all
  };
  const Row rows[] = {
      {".common .global .u32 x;", ".common directive", 50, 0},
      {".entry k() { .reg .b32 r; T: .branchtargets L; brx.idx r, T; L: ret; }", ".branchtargets directive", 60, 30},
      {".func f() { ret; } .func g(); .alias g, f;", ".alias", 63, 30},
      {".func f() .noreturn { exit; }", ".noreturn", 64, 30},
      {".entry k() { P: .callprototype _ () .noreturn; ret; }", ".noreturn", 64, 30},
      {".section .debug_info { a: }", "Defining labels in .section", 70, 0},
      {".section .debug_info { .b32 a-b }", "labels1 - labels2 expression in .section", 75, 0},
      {".section .debug_info { .b8 -1 }", "Negative numbers in dwarf section", 75, 0},
      {".entry k() { .loc 1 2 3, function_name s, inlined_at 1 5 6\n ret; }", "Line information of inline functions",
       70, 0},
      {".global .u32 x; .global .u8 y[1] = {0xff(x)};", "mask operator in initializer", 71, 0},
      {".entry k() .explicitcluster { ret; }", ".explicitcluster", 78, 90},
      {".entry k() .reqnctapercluster 2 { ret; }", ".reqnctapercluster", 78, 90},
      {".entry k() .maxclusterrank 2 { ret; }", ".maxclusterrank", 78, 90},
      {".global .attribute(.managed) .u32 x;", ".managed", 40, 30},
      {".global .attribute(.unified(1, 2), .managed) .u32 x;", ".unified", 80, 90},
      {".func .attribute(.unified(1, 2)) f() { ret; }", ".unified", 80, 90},
      {".global .b128 x;", "Type .b128", 83, 70},
      {".entry k() { .reg .f16x2 r; ret; }", ".f16x2 packed data-type", 0, 53},
      {".func f() .abi_preserve 8 { ret; }", ".abi_preserve", 90, 80},
      {".func f() .abi_preserve_control 8 { ret; }", ".abi_preserve_control", 90, 80},
      {".entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }", ".blocksareclusters", 90, 90},
  };
  const auto dotted = [](u32 version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); };
  const auto error_in = [&](const Row& row, u32 version, u32 target) {
    return first_error(".version " + dotted(version) + "\n.target sm_" + std::to_string(target) + "\n" + row.text);
  };
  constexpr u32 kVersions[] = {31, 40, 43, 50, 60, 62, 63, 64, 65, 70, 71, 74, 77, 78, 80, 82, 83, 88, 90};
  constexpr u32 kTargets[] = {20, 30, 50, 52, 53, 62, 70, 75, 80, 89, 90};
  const u32 newest = newest_ptx();
  for (const Row& row : rows) {
    CAPTURE(row.text);
    for (const u32 version : kVersions) {
      if (version >= row.version || version > newest) continue;
      CAPTURE(version);
      CHECK(error_in(row, version, 20) ==
            std::string("Feature '") + row.name + "' requires PTX ISA .version " + dotted(row.version) + " or later");
    }
    if (row.version > newest) continue;
    for (const u32 target : kTargets) {
      CAPTURE(target);
      const std::string refusal =
          std::string("Feature '") + row.name + "' requires .target sm_" + std::to_string(row.target) + " or higher";
      CHECK(error_in(row, newest, target) == (target >= row.target ? "" : refusal));
    }
  }
}

TEST_CASE("A directive is accepted only where it belongs, and only with those that it goes with") {
  const std::pair<std::string, const char*> rows[] = {
      {".entry k() .noreturn { ret; }", "Parsing error near '.noreturn': syntax error"},
      {".entry k() .abi_preserve 8 { ret; }", "Parsing error near '.abi_preserve': syntax error"},
      {".entry .attribute(.unified(1, 2)) k() { ret; }", "Parsing error near '.attribute': syntax error"},
      {".func f() .maxntid 32 { ret; }", "Parsing error near '.maxntid': syntax error"},
      {".func f() .reqnctapercluster 2 { ret; }", "Parsing error near '.reqnctapercluster': syntax error"},
      {".entry k() .reqnctapercluster 2 .maxclusterrank 4 { ret; }",
       "Conflicting directives: .reqnctapercluster and .maxclusterrank cannot both be specified"},
      {".entry k() .maxntid 32 .reqntid 32 { ret; }",
       "Conflicting directives: .maxntid and .reqntid cannot both be specified"},
      {".entry k() .reqntid 32 .blocksareclusters { ret; }",
       ".reqntid and .reqnctapercluster directive(s) required for directive '.blocksareclusters'"},
      {".entry k() .maxnctapersm 2 { ret; }",
       "Deprecated feature: '.maxnctapersm directive' not supported as of PTX version 2.1"},
      {".entry k() .maxnreg 0 { ret; }", "Positive non-zero value expected for maxnreg"},
      {".entry k() .minnctapersm 0 { ret; }", "Positive non-zero value expected for minnctapersm"},
      {".global .attribute(.unified(1)) .u32 x;", "Parsing error near ')': syntax error"},
      {".global .attribute(.unified) .u32 x;", "Parsing error near ')': syntax error"},
      {".shared .attribute(.managed) .u32 x;", "Illegal attribute '.managed' for symbol 'x'"},
      {".const .attribute(.unified(1, 2)) .u32 x;", "Illegal attribute '.unified' for symbol 'x'"},
      {".func f(.param .u64 .ptr .global p) { ret; }", "Illegal placement of kernel parameter attribute"},
      {".entry k() { .reg .u64 .ptr x; }", "Parsing error near '.ptr': syntax error"},
      {".func f(.reg .b32 p[2]) { ret; }", "Variable 'p' cannot be allocated into a register"},
      {".func f(.reg .pred p[2]) { ret; }", "Predicate type can only be used to define scalar register variables"},
      {".func f(.param .align 256 .b8 p[4]) { ret; }",
       "Parameter 'p' has illegal alignment (must be aligned to 1, 2, 4, 8, 16, 32, 64, or 128 bytes)"},
      {".entry k() { .param .align 256 .b8 p[4]; ret; }",
       "Parameter 'p' has illegal alignment (must be aligned to 1, 2, 4, 8, 16, 32, 64, or 128 bytes)"},
      {".entry k(.param .align 256 .b8 p[4]) { .local .align 256 .b8 l[4]; ret; }", ""},
      {".func (.param .b8 r[]) f() { ret; }", "Output parameter cannot be an incomplete array."},
      {".func f(.param .b8 p[], .param .b32 q) { ret; }", "Only the last input parameter can be an incomplete array."},
      {".entry k() { P: .callprototype (.param .b8 _[]) _ (); ret; }",
       "Output parameter cannot be an incomplete array."},
      {".entry k() { P: .callprototype _ (.param .b8 _[], .param .b32 _); ret; }",
       "Only the last input parameter can be an incomplete array."},
      {".func f(.param .b32 p, .param .b8 q[]) { ret; }", ""},
      {".func f(.param .b32) { ret; }", "Parsing error near ')': syntax error"},
      {".func f(.param .b32 _) { ret; }", "Illegal parameter name '_'"},
      {".entry k(.param .b32 _) { ret; }", ""},
      {".extern .func f() { ret; }", "Function definition conflicts with '.extern' declaration for function 'f'"},
      {".common .func f() { ret; }", "Parsing error near '.func': syntax error"},
      {".func f(.param .pred p) { ret; }", "Predicate variable 'p' must be in register state space"},
      {".global .v4 .b64 x;", "Vector type too large, exceeds 128 bit limit"},
      {".global .v8 .b8 x;", "Parsing error near '.v8': syntax error"},
      {".entry k() { .reg .bf16 x; }", "Parsing error near '.bf16': syntax error"},
      {".entry k() { .reg .u16x2 x; }", "Type .u16x2 may only be used as an instruction type"},
      {".entry k(.param .f16x2 p) { ret; }", "Variable 'p' cannot be allocated in .param state space"},
      {".entry k() { .reg .texref t; }", "Texture/surface variable must be at module or entry parameter scope"},
      {".shared .surfref s;", "Texture and surface variables must be declared in .global space"},
      {".global .v2 .texref t;", "Vector type only allowed over basic types"},
      {".global .samplerref s;", "Instruction or declaration violates .target texmode_unified setting"},
  };
  const u32 newest = newest_ptx();
  const std::string header =
      ".version " + std::to_string(newest / 10) + "." + std::to_string(newest % 10) + "\n.target sm_90\n";
  for (const auto& [text, message] : rows) {
    CAPTURE(text);
    if (newest < 90 && text.find(".blocksareclusters") != std::string::npos) continue;
    CHECK(first_error(header + text) == message);
  }
}
