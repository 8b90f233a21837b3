// From text to program: names, slots, labels, layouts, links, and what is refused.
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/ptx/load.hpp"
#include "tests/catch.hpp"

#include <cstring>
#include <map>
#include <string>

using namespace cudasim;

namespace {

const std::string kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

// Stands for the context's memory.
struct Memory {
  std::map<std::string, u64> addresses;
  std::map<u64, std::vector<std::byte>> written;
  u64 next = 0x1000;

  Placement placement() {
    return {[this](const ptx::Variable& variable) {
              addresses[variable.name] = next;
              return std::exchange(next, next + 0x1000);
            },
            [this](u64 address, std::span<const std::byte> data) { written[address] = {data.begin(), data.end()}; }};
  }
  u64 word(const std::string& name, u64 offset = 0) const {
    u64 value = 0;
    std::memcpy(&value, written.at(addresses.at(name)).data() + offset, 8);
    return value;
  }
};

Loaded load_texts(const std::vector<std::string>& texts, Memory& memory) {
  std::vector<ptx::Module> modules;
  for (const std::string& text : texts) {
    ptx::Parsed parsed = ptx::parse(kHeader + text);
    CAPTURE(text);
    for (const auto& error : parsed.errors) {
      CAPTURE(error.message);
      CHECK(parsed.errors.empty());
    }
    modules.push_back(std::move(parsed.module));
  }
  return load(modules, memory.placement());
}

std::shared_ptr<const Program> loaded(const std::string& text, Memory memory = {}) {
  Loaded result = load_texts({text}, memory);
  CAPTURE(text);
  for (const auto& error : result.errors) {
    CAPTURE(error.message);
    CHECK(result.errors.empty());
  }
  REQUIRE(result.program != nullptr);
  return result.program;
}

const Code& code_of(const std::shared_ptr<const Program>& program, const char* name) {
  for (const auto& code : program->functions) {
    if (code->name == name) return *code;
  }
  throw std::runtime_error(std::string("no function ") + name);
}

std::string refused(const std::string& text) {
  Memory memory;
  const Loaded result = load_texts({text}, memory);
  CHECK((result.program == nullptr) == !result.errors.empty());
  CHECK(memory.addresses.empty());
  return result.errors.empty() ? "" : result.errors[0].message;
}

template <class T>
T constant(const Code& code, Slot slot, u32 lane = 0) {
  REQUIRE((slot & kConstant) != 0);
  T value;
  std::memcpy(&value, code.constant_base + (slot & ~kConstant) + lane * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

TEST_CASE("Registers become slots by width, constants are shared and repeated for every lane") {
  const auto program = loaded(
      ".entry k() { .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f32 %f<3>; .reg .pred %p<3>;\n"
      "add.u32 %r1, %r2, 7; add.s32 %r3, %r1, 7; mul.wide.u32 %rd1, %r1, 7; add.f32 %f1, %f2, 1.5;\n"
      "setp.eq.u32 %p1, %r1, %r3; mov.b64 %rd2, %rd1; ret; }");
  const Code& code = code_of(program, "k");
  REQUIRE(code.instructions.size() == 7);
  CHECK(code.instructions[0].slot[2] == code.instructions[1].slot[2]);
  CHECK(constant<u32>(code, code.instructions[0].slot[2], 31) == 7);
  CHECK(constant<float>(code, code.instructions[3].slot[2], 5) == 1.5f);
  for (const Instruction& each : code.instructions) {
    for (Slot slot : each.slot) {
      if (slot == kNoSlot || (slot & kConstant) != 0) continue;
      CHECK((slot % 64 == 0 || each.run == code.instructions[4].run));
      CHECK(slot < code.frame_bytes);
    }
  }
  CHECK(code.instructions[0].slot[0] == code.instructions[1].slot[1]);
  CHECK(reinterpret_cast<std::uintptr_t>(code.constant_base) % 64 == 0);
}

TEST_CASE("Immediates take the type of their operand") {
  const auto program = loaded(
      ".entry k() { .reg .b32 r; .reg .f32 f; .reg .f64 d; .reg .b16 h; .reg .b64 l;\n"
      "mov.u32 r, -1; mov.f32 f, 0d3FF8000000000000; mov.f64 d, 0f3FC00000; mov.b32 r, 0f3F800000; mov.u16 h, 70000;\n"
      "mov.s64 l, -5; ret; }");
  const Code& code = code_of(program, "k");
  const auto slot = [&](u32 i) { return code.instructions[i].slot[1]; };
  CHECK(constant<u32>(code, slot(0)) == 0xffffffffu);
  CHECK(constant<float>(code, slot(1)) == 1.5f);
  CHECK(constant<double>(code, slot(2)) == 1.5);
  CHECK(constant<u32>(code, slot(3)) == 0x3f800000u);
  CHECK(constant<u16>(code, slot(4)) == 70000 % 65536);
  CHECK(constant<i64>(code, slot(5)) == -5);
}

TEST_CASE("Labels become indices, every return goes to the one ret at the end") {
  const auto program =
      loaded(".entry k() { .reg .pred p; .reg .b32 r; @p bra L; add.u32 r, r, 1; @!p ret; L: add.u32 r, r, 2; ret; }");
  const Code& code = code_of(program, "k");
  REQUIRE(code.instructions.size() == 5);
  CHECK(code.instructions[0].run == run_branch);
  CHECK(code.instructions[0].target == 3);
  CHECK(code.instructions[0].guard % 2 == 0);
  CHECK(code.instructions[2].target == 4);
  CHECK(code.instructions[2].guard == (code.instructions[0].guard | 1));
  CHECK(code.instructions[4].run == run_return);
  CHECK(code.reconverge[0] == 3);
}

TEST_CASE("Inner scopes hide outer names, of registers and of labels") {
  const auto program = loaded(
      ".entry k() { .reg .b32 x, %r<9>; L: { .reg .b64 x, %r<3>; add.u64 x, x, %r2; add.u32 %r5, %r5, %r5; L: bra L; "
      "}\n"
      "add.u32 x, x, %r2; bra L; }");
  const Code& code = code_of(program, "k");
  CHECK(code.instructions[2].target == 2);
  CHECK(code.instructions[4].target == 0);
}

TEST_CASE("Shared memory is laid out kernel by kernel, dynamic memory behind it") {
  const auto program = loaded(
      ".shared .align 4 .b8 a[6]; .shared .align 16 .b8 b[16]; .extern .shared .align 32 .b8 dynamic[];\n"
      ".func f() { .reg .b32 r; mov.u32 r, b; ret; }\n"
      ".entry one() { .reg .b32 r; mov.u32 r, a+2; mov.u32 r, dynamic; ret; }\n"
      ".entry two() { .shared .b32 own; .reg .b32 r; mov.u32 r, a; mov.u32 r, own; call f; ret; }");
  const Kernel &one = program->kernels.at(0), &two = program->kernels.at(1);
  CHECK(one.static_shared == 6);
  CHECK(one.dynamic_shared_align == 32);
  const Code& code = code_of(program, "one");
  CHECK(code.instructions[0].offset == 2);  // to which the block's own base is added
  CHECK(code.instructions[2].offset == 32);
  CHECK(two.static_shared == 36);
  CHECK(two.shared_offset.size() == 3);
}

TEST_CASE("Variables are placed once, and initialisers may hold addresses") {
  Memory memory;
  const Loaded result =
      load_texts({".func f(); .global .u32 x = 5; .global .u64 p[2] = {x + 4, f}; .visible .const .b8 c[3] = {1, 2};\n"
                  ".global .u8 low = 0xff00(x);\n"
                  ".func f() { ret; } .entry k() { .reg .b64 d; mov.u64 d, p + 8; mov.u64 d, f; ret; }"},
                 memory);
  REQUIRE(result.program != nullptr);
  CHECK(memory.word("p") == memory.addresses["x"] + 4);
  CHECK(memory.word("p", 8) == kCodeWindow);
  CHECK(memory.written.at(memory.addresses["low"]).at(0) == std::byte{0x10});
  const Code& code = code_of(result.program, "k");
  CHECK(constant<u64>(code, code.instructions[0].slot[1]) == memory.addresses["p"] + 8);
  CHECK(constant<u64>(code, code.instructions[1].slot[1]) == kCodeWindow);
  REQUIRE(result.program->globals.size() == 4);
  CHECK(result.program->globals[2].visible);
  CHECK(result.program->globals[2].space == Space::constant);
}

TEST_CASE("Calls name functions, builtins, or registers with a prototype") {
  const auto program = loaded(
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".func (.reg .b32 r) twice(.reg .b32 x) { add.u32 r, x, x; ret; }\n"
      ".func (.param .b32 r) f(.param .b64 a, .param .b64 b) { ret; }\n"
      ".entry k() { .reg .b32 x; .reg .b64 p; .param .b32 r; .param .b64 a, b;\n"
      "call (x), twice, (x); call (x), twice, (5); call (r), vprintf, (a, b); mov.u64 p, f;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _); call (r), p, (a, b), proto; ret; }");
  const Code& code = code_of(program, "k");
  REQUIRE(code.calls.size() == 4);
  CHECK(code.calls[0].callee == 0);
  CHECK(code.calls[0].arguments.at(0).in_register);
  CHECK(constant<u32>(code, code.calls[1].arguments.at(0).slot) == 5);
  CHECK(code.calls[2].callee == kBuiltin + static_cast<u32>(Builtin::vprintf));
  CHECK(code.calls[2].results.at(0).size == 4);
  CHECK(code.calls[3].callee == kNoTarget);
  CHECK(code.calls[3].pointer != kNoSlot);
  CHECK(code.local_bytes >= 20);
  CHECK(program->kernels.at(0).local_bytes > code.local_bytes);
}

TEST_CASE("Entry parameters are laid out as a C compiler does") {
  const auto program =
      loaded(".entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[6], .param .u16 d) { ret; }");
  const auto& parameters = code_of(program, "k").parameters;
  CHECK(parameters[0].offset == 0);
  CHECK(parameters[1].offset == 8);
  CHECK(parameters[2].offset == 16);
  CHECK(parameters[3].offset == 22);
  CHECK(program->kernels.at(0).parameter_bytes == 24);
}

TEST_CASE("Several modules are linked by their visible names") {
  Memory memory;
  const std::string caller =
      ".extern .func (.reg .b32 r) f(.reg .b32 x); .extern .global .u32 v;\n"
      ".entry k() { .reg .b32 x; .reg .b64 a; call (x), f, (x); mov.u64 a, v; ret; }";
  const std::string callee =
      ".visible .func (.reg .b32 r) f(.reg .b32 x) { mov.b32 r, x; ret; } .visible .global .u32 v = 3; .global .u32 "
      "own;";
  const Loaded both = load_texts({caller, callee}, memory);
  REQUIRE(both.program != nullptr);
  CHECK(both.program->globals.size() == 2);
  CHECK(load_texts({caller}, memory).errors.at(0).message == "Unresolved extern function 'f'");
  CHECK(load_texts({callee, callee}, memory).errors.at(0).message == "Duplicate definition of variable 'v'");
  const std::string weak = ".weak .func f() { ret; } .common .global .b8 t[4]; .global .u32 own;";
  const std::string strong = ".visible .func f() { ret; } .common .global .b8 t[8]; .global .u32 own;";
  memory = {};
  const Loaded merged = load_texts({weak, strong}, memory);
  REQUIRE(merged.program != nullptr);
  CHECK(merged.program->functions.size() == 1);
  CHECK(merged.program->globals.size() == 3);
}

TEST_CASE("An alias is another name of a function") {
  const auto program = loaded(".func f() { ret; } .func g(); .alias g, f; .entry k() { call g; ret; }");
  CHECK(code_of(program, "k").calls.at(0).callee == 0);
}

TEST_CASE("What makes no sense is refused by name, as ptxas refuses it") {
  struct Row {
    const char* body;
    const char* message;
  };
  const std::string declarations =
      ".global .u32 gv; .extern .func missing; .func g1(.param .b32 a) { ret; }\n"
      ".entry k(.param .u64 kp) { .reg .u32 r<4>; .reg .f32 f<4>; .reg .f64 d<3>; .reg .b16 h<3>; .reg .u64 rd<3>;\n"
      ".reg .pred p<3>; .reg .b32 b<3>; .param .b64 pp;\n";
  const Row rows[] = {
      {"frobnicate r1;", "Not a name of any known instruction: 'frobnicate'"},
      {"add.foo.u32 r1, r2, r3;", "Unknown modifier '.foo'"},
      {"add.u32 r1, r2;", "Arguments mismatch for instruction 'add'"},
      {"ld.param.u64;", "Arguments mismatch for instruction 'ld'"},
      {"ld.param.u64 rd1;", "Arguments mismatch for instruction 'ld'"},
      {"add.u32 r1, r2, r3, r0;", "Arguments mismatch for instruction 'add'"},
      {"add.u32 r1, r2, rd1;", "Arguments mismatch for instruction 'add'"},
      {"add.f32 f1, f2, r1;", "Arguments mismatch for instruction 'add'"},
      {"add.f32 f1, f2, 3;", "Arguments mismatch for instruction 'add'"},
      {"add.u32 r1, r2, 1.5;", "Arguments mismatch for instruction 'add'"},
      {"mov.u32 r0, f0;", "Arguments mismatch for instruction 'mov'"},
      {"mov.b32 b0, {h0, h1, h2};", "Arguments mismatch for instruction 'mov'"},
      {"add.u32 r1, r2, r9;", "Unknown symbol 'r9'"},
      {"add.u32 5, r1, r2;", "Result register required for instruction 'add'"},
      {"add.u32 r0, %tid.x, 1;", "Special register argument not allowed for instruction 'add'"},
      {"mov.u32 r0, %nosuch;", "Unknown symbol '%nosuch'"},
      {"@r1 add.u32 r1, r2, r3;", "Predicate expression expected"},
      {"@q add.u32 r1, r2, r3;", "Unknown symbol 'q'"},
      {"bra M;", "Unknown symbol 'M'"},
      {"bra L2; { L2: }", "Unknown symbol 'L2'"},
      {"add.u32 r1, {r2}, r3;", "Vector operand is not allowed for instruction 'add'"},
      {"add.u32 _, r1, r2;", "Result discard mode is not allowed for instruction 'add'"},
      {"add.u64 rd1, rd1, gv;", "'gv' used in instruction 'add': must be register"},
      {"mov.u32 r1, {h0, h1};", "Arguments mismatch for instruction 'mov'"},
      {"mov.u64 rd0, pp;", "Illegal to take address of parameter 'pp'"},
      {"and.b32 b0, b1, !b2;", "Illegal argument to predicate negation"},
      {"ld.shared.u32 r0, [gv];", "State space mismatch between instruction and address in instruction 'ld'"},
      {"ld.global.u32 r0, [16];", "Immediate addresses allowed only for .local state space"},
      {"ld.global.u32 f0, [rd0];", "Arguments mismatch for instruction 'ld'"},
      {"st.param.u64 [kp], rd0;", "Illegal to write to function input parameter 'kp'"},
      {"bar.sync 16;", "Barrier number '16' out of range, expected to be in range [0..15]"},
      {"bar.sync 0, 63;", "Number of threads participating in barrier must be in multiple of warp size"},
      {"shfl.idx.b32 b0, b1, 0, 31;",
       "Instruction 'shfl' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4"},
      {"cp.async.ca.shared.global [r0], [rd0], 5;",
       "Argument 3 of instruction 'cp': unexpected value '5', expected to be 4 or 8 or 16"},
      {"setp.lt.f16 p1|p2, h0, h1;", "Predicate output not allowed for instruction 'setp'"},
      {"add.u32 r0|p1, r1, r2;", "Predicate output not allowed for instruction 'add'"},
      {"cp.async.ca.shared.global [r0], [rd0], r1;", "Arguments mismatch for instruction 'cp'"},
      {"call missing;", "Unresolved extern function 'missing'"},
      {"call nowhere;", "Call to 'nowhere' requires call prototype"},
      {"call rd0, (pp);", "Call to 'rd0' requires call prototype"},
      {"call g1, (pp);", "Arguments mismatch for instruction 'call'"},
      {"call g1;", "Call has wrong number of parameters"},
      {"call k, (pp);", "Entry function 'k' cannot be called"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    CHECK(refused(declarations + row.body + " ret; }") == row.message);
  }
  CHECK(refused(".entry k() { ret; } .entry k() { ret; }") == "Duplicate definition of function 'k'");
  CHECK(refused(".func f(.param .u64 a); .func f(.param .u32 a) { ret; }") ==
        "Inconsistent prototypes of 'f', parameter types differ");
  CHECK(refused(".global .u32 x; .global .u32 x;") == "Duplicate definition of variable 'x'");
  CHECK(refused(".shared .b8 x[999999]; .entry k() { .reg .b32 r; mov.u32 r, x; }") ==
        "Entry function 'k' uses too much shared data (0xf423f bytes, 0x38c00 max)");
}

TEST_CASE("What a text declares twice is the same both times") {
  const std::string twice = "Duplicate definition of function 'f'", other = "Inconsistent redefinition of variable 'f'",
                    types = "Inconsistent prototypes of 'f', parameter types differ",
                    variable = "Inconsistent redefinition of variable 'a'";
  const std::pair<const char*, std::string> rows[] = {
      {".func f(); .func f() { ret; }", ""},
      {".visible .func f(); .func f() { ret; }", ""},
      {".weak .func f(); .weak .func f() { ret; }", ""},
      {".func f() { ret; } .func f();", twice},
      {".visible .func f() { ret; } .extern .func f();", twice},
      {".func f(); .visible .func f() { ret; }", other},
      {".extern .func f(); .func f() { ret; }", other},
      {".weak .func f(); .visible .func f() { ret; }", other},
      {".func f() .noreturn; .func f() { ret; }", other},
      {".func f(.param .u32 p); .func f(.param .s32 p) { ret; }", types},
      {".func f(.param .b32 p); .func f(.param .align 4 .b8 p[4]) { ret; }", types},
      {".func (.reg .b32 r) f(); .func (.reg .f32 r) f() { ret; }", types},
      {".func f(.param .align 4 .b8 p[4]); .func f(.param .align 8 .b8 p[4]) { ret; }",
       "Inconsistent prototypes of 'f', parameter alignment differ"},
      {".extern .global .b32 a[]; .visible .global .b32 a[3];", ""},
      {".visible .global .b32 a[3]; .extern .global .b32 a[];", ""},
      {".extern .global .align 4 .b8 a[4]; .weak .global .align 8 .b8 a[4];", ""},
      {".common .global .b32 a; .extern .global .b32 a;", ""},
      {".extern .global .b32 a[2]; .visible .global .b32 a[3];", variable},
      {".visible .global .b32 a[2]; .extern .global .b32 a[3];", variable},
      {".extern .global .b32 a; .visible .global .f32 a;", variable},
      {".extern .global .b32 a[2][4]; .visible .global .b32 a[8];", variable},
      {".extern .global .b32 a[][2]; .visible .global .b32 a[4];", variable},
      {".extern .global .v2 .b32 a; .visible .global .b64 a;", variable},
      {".common .global .b32 a; .common .global .b64 a;", variable},
      {".common .global .b32 a; .visible .global .b32 a;", "Duplicate definition of variable 'a'"},
      {".extern .global .b32 a; .global .b32 a;", "'.extern' variable 'a' cannot be resolved by a '.static'"},
  };
  for (const auto& [text, message] : rows) {
    CAPTURE(text);
    Memory memory;
    const Loaded loaded = load_texts({text}, memory);
    CHECK((loaded.errors.empty() ? "" : loaded.errors[0].message) == message);
  }
}

TEST_CASE("A special register is refused where the text's version or target does not have it") {
  const auto error = [](const char* head, const char* instruction) {
    const std::string text = std::string(head) + "\n.address_size 64\n.entry k() { .reg .b32 r; .reg .b64 d; " +
                             ".reg .pred p; " + instruction + " ret; }";
    ptx::Parsed parsed = ptx::parse(text);
    REQUIRE(parsed.errors.empty());
    std::vector<ptx::Module> modules;
    modules.push_back(std::move(parsed.module));
    Memory memory;
    const Loaded result = load(modules, memory.placement());
    return result.program != nullptr ? std::string() : result.errors.front().message;
  };
  CHECK(error(".version 7.8\n.target sm_90", "mov.u32 r, %cluster_ctaid.x;") == "");
  CHECK(error(".version 7.8\n.target sm_80", "mov.u32 r, %cluster_ctaid.x;") ==
        "Feature '%cluster_ctaid' requires .target sm_90 or higher");
  CHECK(error(".version 8.0\n.target sm_80", "mov.pred p, %is_explicit_cluster;") ==
        "Feature '%is_explicit_cluster' requires .target sm_90 or higher");
  CHECK(error(".version 8.0\n.target sm_90", "cvt.u64.u32 d, %aggr_smem_size;") ==
        "Feature '%aggr_smem_size' requires PTX ISA .version 8.1 or later");
  CHECK(error(".version 7.5\n.target sm_80", "mov.b32 r, %reserved_smem_offset_1;") ==
        "Feature '%reserved_smem_offset_1' requires PTX ISA .version 7.6 or later");
  CHECK(error(".version 6.0\n.target sm_60", "mov.u64 d, %current_graph_exec;") ==
        "Feature '%current_graph_exec' requires PTX ISA .version 8.0 or later");
  CHECK(error(".version 6.0\n.target sm_60", "mov.u32 r, %total_smem_size;") == "");
}

TEST_CASE("An extern variable without a definition is defined here, with a warning") {
  Memory memory;
  const Loaded result = load_texts({".extern .global .u32 x; .entry k() { .reg .b64 a; mov.u64 a, x; }"}, memory);
  REQUIRE(result.program != nullptr);
  REQUIRE(result.warnings.size() == 1);
  CHECK(memory.addresses.count("x") == 1);
}

TEST_CASE("The log says it in ptxas's words") {
  const std::string text = kHeader + ".entry k()\n{\n  frobnicate %r1;\n}\n";
  Memory memory;
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(text).module);
  const Loaded result = load(modules, memory.placement());
  CHECK(log_text(result.errors, true) ==
        "ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'frobnicate'\n"
        "ptxas fatal   : Ptx assembly aborted due to errors");
}
