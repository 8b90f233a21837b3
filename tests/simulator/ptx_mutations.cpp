// Whatever happens to a text, the loader returns a program or errors, soon, and never crashes.
#include "common/simulator/ptx/load.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <random>
#include <string>

using namespace cudasim;

namespace {

// Something of everything: what compilers write, and what only people write.
const std::string kText = R"(.version 8.0
.target sm_90, debug
.address_size 64
.file 1 "kernel.cu"
.section .debug_str { text: .b8 107, 0 
.b32 text+1 .b64 text-text .b16 -2 }
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 4 .b8 bytes[16] = {1, 2, 3};
.func (.param .b32 result) helper(.param .b32 x, .param .align 8 .b8 s[16]);
.visible .global .align 8 .u64 table[4] = {helper, bytes + 8, generic(bytes), 7};
.const .f32 weights[2][2] = {{1.0, 0f40000000}, {3.0}};
.shared .align 16 .b8 buffer[256];
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 result) helper(.param .b32 x, .param .align 8 .b8 s[16]) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [s+4];
  mad.lo.s32 %r3, %r1, 3, %r2;
  st.param.b32 [result], %r3;
  ret;
}
.visible .entry kernel(.param .u64 .ptr .global .align 4 p, .param .u32 n)
.maxntid 256, 1, 1 .minnctapersm 2
{
  .local .align 8 .b8 frame[32];
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .v2 .u32 pair;
  .loc 1 3 5
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  setp.ge.and.u32 %p1|%p2, %r1, 100*(2+3), !%p3;
  @!%p1 bra $L1;
  mul.wide.u32 %rd3, %r1, 4;
$L0:add.s64 %rd4, %rd2, %rd3;
  ld.global.v2.u32 {%r2, %r3}, [%rd4+-8];
  mov.b64 %rd5, {%r2, %r3};
  { .reg .b64 t; .param .b32 x0, r0; .param .align 8 .b8 s0[16];
    st.param.b32 [x0], %r2;
    mov.u64 t, helper;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);
    call (r0), t, (x0, s0), proto;
    call.uni (r0), helper, (x0, s0);
    ld.param.b32 %r4, [r0]; }
  mov.v2.u32 pair, {%r2, %r4};
  add.u32 %r5, pair.x, pair.y;
  atom.global.add.u32 %r6, [%rd4], %r5;
  shfl.sync.down.b32 %r7|%p3, %r6, 1, 31, -1;
  targets: .branchtargets $L0, $L1;
  @%p3 brx.idx %r7, targets;
$L1:
  mov.u32 %r8, buffer; st.shared.u32 [%r8+4], %r1; bar.sync 0;
  fma.rn.f32 %f1, %f2, 0f3F800000, 1.5;
  st.local.u32 [frame+4], %r7;
  ret;
}
)";

// 1: a program, 0: errors. The program, if any, is well formed enough to be looked at.
bool survives(const std::string& text) {
  ptx::Parsed parsed = ptx::parse(text);
  if (!parsed.errors.empty()) {
    REQUIRE_FALSE(log_text(parsed.errors, true).empty());
    return false;
  }
  u64 next = 0x1000;
  const Placement placement{[&](const ptx::Variable&) { return next += 0x1000; },
                            [](u64, std::span<const std::byte>) {}};
  std::vector<ptx::Module> modules;
  modules.push_back(std::move(parsed.module));
  const Loaded loaded = load(modules, placement);
  REQUIRE((loaded.program == nullptr) == !loaded.errors.empty());
  return loaded.program != nullptr;
}

std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  static const std::string kBits[] = {"{",          "}",
                                      "[",          "]",
                                      "(",          ")",
                                      ";",          ",",
                                      ":",          "@",
                                      "!",          "|",
                                      "0f",         ".v4",
                                      ".param",     "_",
                                      "-1",         "99999999999999999999",
                                      "<99999999>", "[99999999999]",
                                      "/*",         "\"",
                                      "%r1",        ".entry",
                                      ".func",      "call",
                                      "brx.idx",    "ret;",
                                      "$L0",        "1?2:3",
                                      "\xff"};
  for (std::size_t times = 1 + below(4); times > 0; --times) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0: text.erase(at, below(30)); break;
      case 1: text.insert(at, kBits[below(std::size(kBits))]); break;
      case 2: text.insert(below(text.size() + 1), text.substr(at, below(60))); break;
      case 3: text.resize(at); break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      default: {
        std::string many;
        const std::string& bit = kBits[below(std::size(kBits))];
        for (std::size_t i = below(300); i > 0; --i) many += bit;
        text.insert(at, many);
      }
    }
  }
  return text;
}

// What only old texts may have.
const std::string kOldText = R"(.version 2.1
.target sm_20
.const[0] .u32 c[2] = {1, 2};
.extern .const[2] .b32 bank[];
.func (.reg .u32 o) g (.reg .u32 i) { .local .align 8 .b8 mine[16]; add.u32 o, i, 1; st.local.u32 [mine+4], o; ret; }
.func f { .reg .u32 %r<9>, sum; .reg .pred p; .reg .v2 .f32 v;
  call (%r3), g, (sum); @p call (_), g, (%r8); mov.f32 v.x, v.y; ret; }
.entry k (.param .u64 out) {
  .reg .u32 %r<9>, sum; .reg .pred p; .local .align 8 .b8 mine[16];
  .reg .u64 y; ld.param.u64 y, [out]; ld.const[0].u32 %r1, [c+4]; setp.eq.u32 p, %r1, sum; call f;
  mov.u64 y, mine; ld.local.u32 %r2, [y]; { .reg .u32 sum; mov.u32 sum, %r2; } exit; }
)";

}  // namespace

TEST_CASE("A text in which everything occurs is loaded") {
  CHECK(survives(kText));
  CHECK(survives(kOldText));
}

TEST_CASE("No change to a text makes the loader crash or hang") {
  std::mt19937 random(20261121);
  for (int i = 0; i < 2'000; ++i) survives(mutated(kText, random));
  for (int i = 0; i < 2'000; ++i) survives(mutated(kOldText, random));
}

TEST_CASE("Many registers of a module in many functions are refused, or take little time") {
  std::string chain = ".version 2.3\n.target sm_20\n.reg .u32 %r<4000>;\n", many = chain;
  for (int i = 0; i < 4000; ++i) chain += ".func f" + std::to_string(i) + ";\n";
  for (int i = 0; i < 4000; ++i) {
    const std::string next = i < 3999 ? " call f" + std::to_string(i + 1) + ";" : "";
    chain += ".func f" + std::to_string(i) + " { mov.u32 %r" + std::to_string(i) + ", 1;" + next + " ret; }\n";
    many += ".reg .u32 a" + std::to_string(i) + "; .func g" + std::to_string(i) + " { ret; }\n";
  }
  CHECK_FALSE(survives(chain));
  CHECK_FALSE(survives(many));
}

TEST_CASE("Statements without their operands, with one, or with all of them twice load or are refused") {
  for (std::size_t end = kText.find(';'); end != std::string::npos; end = kText.find(';', end + 1)) {
    const std::size_t line = kText.find_last_of(";{\n", end - 1) + 1, opcode = kText.find_first_not_of(" \t", line);
    const std::size_t operands = std::min(kText.find(' ', opcode), end);
    const std::size_t second = std::min(kText.find(',', operands), end);
    const std::string before = kText.substr(0, operands), after = kText.substr(end);
    survives(before + after);
    survives(before + kText.substr(operands, second - operands) + after);
    survives(before + kText.substr(operands, end - operands) + "," + kText.substr(operands, end - operands) + after);
  }
}

TEST_CASE("Every prefix of a text loads or is refused") {
  for (std::size_t length = 0; length < kText.size(); length += 7) survives(kText.substr(0, length));
}

TEST_CASE("A long text is loaded in a time that grows with its length") {
  std::string text = ".version 8.0\n.target sm_90\n.entry k() { .reg .b32 %r<20000>; .reg .pred p;\n";
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    text += "L" + n + ": add.u32 %r" + n + ", %r" + std::to_string(i / 2) + ", " + n + "; @p bra L" +
            std::to_string(i * 7 % 20'000) + ";\n";
  }
  CHECK(survives(text + "}"));
}
