// Random programs with a random flow of control: a warp whose lanes part and meet must give each thread what it would
// get alone. This holds slots, guards, reconvergence, calls and indexed branches against a plain interpreter.
#include "tests/simulator/exec_kernel.hpp"

#include <array>
#include <random>

using namespace cudasim;
using namespace cudasim::testing;

namespace {

constexpr u32 kRegisters = 6, kPredicates = 3, kThreads = 48, kFuel = 60;
constexpr u32 kUntouched = 0xabababab;

enum class Op { add, bits, multiply, compare, select, wide, call, pair, count };

struct Line {
  Op op = Op::add;
  bool guarded = false, negated = false;
  u32 guard = 0, to = 0, a = 0, b = 0, predicate = 0, number = 0;
};

enum class End { branch, jump, indexed, leave, fall, count };

struct Stretch {
  std::vector<Line> instructions;
  End end = End::fall;
  bool negated = false;
  u32 predicate = 0, reg = 0;
  std::vector<u32> targets;
};

class Source {
 public:
  explicit Source(u32 seed) : random_(seed) {
    blocks_.resize(3 + below(12));
    for (Stretch& block : blocks_) {
      for (u32 i = 1 + below(5); i > 0; --i) block.instructions.push_back(instruction());
      block.end = static_cast<End>(below(static_cast<u32>(End::count)));
      block.negated = below(2) != 0;
      block.predicate = below(kPredicates);
      block.reg = below(kRegisters);
      for (u32 i = 2 + below(3); i > 0; --i) block.targets.push_back(below(static_cast<u32>(blocks_.size())));
    }
  }

  std::string text() const {
    std::string out = kHeader + R"(
.func (.reg .b32 result) f(.reg .b32 x, .reg .b32 y) {
  .reg .pred q; .reg .b32 t;
  setp.lt.u32 q, x, y; @q bra LESS;
  mad.lo.u32 t, x, 3, y; bra BOTH;
LESS: sub.u32 t, y, x;
BOTH: xor.b32 result, t, 77; ret;
}
.entry k(.param .u64 out) {
  .reg .b32 r<6>, fuel, t, z; .reg .b64 w, o; .reg .pred p<3>, q;
  mov.u32 t, %tid.x; ld.param.u64 o, [out]; mad.wide.u32 o, t, 16, o;
  mov.u32 fuel, 60;
  setp.lt.u32 p0, t, 7; and.b32 z, t, 1; setp.eq.u32 p1, z, 0; setp.gt.u32 p2, t, 20;
)";
    for (u32 r = 0; r < kRegisters; ++r)
      out += "mad.lo.u32 " + reg(r) + ", t, " + num(r * 7 + 1) + ", " + num(r * 13) + "; ";
    for (u32 b = 0; b < blocks_.size(); ++b) {
      out += "\nB" + num(b) + ": sub.u32 fuel, fuel, 1; setp.eq.u32 q, fuel, 0; @q bra END; ";
      for (const Line& i : blocks_[b].instructions) out += text_of(i) + " ";
      out += end_of(blocks_[b], b);
    }
    return out + "\nEND: st.global.v4.u32 [o], {r0, r1, r2, r3}; ret; }\n";
  }

  std::array<u32, 4> alone(u32 t) const {
    std::array<u32, kRegisters> r{};
    for (u32 i = 0; i < kRegisters; ++i) r[i] = t * (i * 7 + 1) + i * 13;
    std::array<bool, kPredicates> p = {t < 7, t % 2 == 0, t > 20};
    u32 at = 0;
    for (u32 fuel = kFuel - 1; fuel != 0 && at < blocks_.size(); --fuel) {
      const Stretch& block = blocks_[at];
      for (const Line& i : block.instructions) execute(i, r, p);
      ++at;
      switch (block.end) {
        case End::branch:
          if (p[block.predicate] != block.negated) at = block.targets[0];
          break;
        case End::jump: at = block.targets[0]; break;
        case End::indexed: at = block.targets[r[block.reg] % block.targets.size()]; break;
        case End::leave:
          if (r[block.reg] > 0xf000'0000u) return {kUntouched, kUntouched, kUntouched, kUntouched};
          break;
        default: break;
      }
    }
    return {r[0], r[1], r[2], r[3]};
  }

 private:
  u32 below(u32 limit) { return static_cast<u32>(random_() % limit); }
  static std::string num(u32 value) { return std::to_string(value); }
  static std::string reg(u32 value) { return "r" + num(value); }

  Line instruction() {
    Line i;
    i.op = static_cast<Op>(below(static_cast<u32>(Op::count)));
    i.guarded = below(3) == 0;
    i.negated = below(2) != 0;
    i.guard = below(kPredicates);
    i.to = below(kRegisters), i.a = below(kRegisters), i.b = below(kRegisters);
    i.predicate = below(kPredicates);
    i.number = static_cast<u32>(random_()) >> below(28);
    return i;
  }

  static std::string text_of(const Line& i) {
    const std::string d = reg(i.to), a = reg(i.a), b = reg(i.b), n = num(i.number), p = "p" + num(i.predicate);
    const std::string guard = i.guarded ? std::string(i.negated ? "@!p" : "@p") + num(i.guard) + " " : "";
    switch (i.op) {
      case Op::add: return guard + "add.u32 " + d + ", " + a + ", " + b + ";";
      case Op::bits: return guard + "lop3.b32 " + d + ", " + a + ", " + b + ", " + n + ", 0x96;";
      case Op::multiply: return guard + "mad.lo.u32 " + d + ", " + a + ", " + n + ", " + b + ";";
      case Op::compare: return guard + "setp.lt.u32 " + p + ", " + a + ", " + b + ";";
      case Op::select: return guard + "selp.b32 " + d + ", " + a + ", " + b + ", " + p + ";";
      case Op::wide: return "mul.wide.u32 w, " + a + ", " + b + "; " + guard + "mov.b64 {_, " + d + "}, w;";
      case Op::call: return guard + "call (" + d + "), f, (" + a + ", " + b + ");";
      default: return "mov.b64 w, {" + a + ", " + b + "}; " + guard + "mov.b64 {_, " + d + "}, w;";
    }
  }

  static void execute(const Line& i, std::array<u32, kRegisters>& r, std::array<bool, kPredicates>& p) {
    if (i.guarded && p[i.guard] == i.negated) return;
    const u32 a = r[i.a], b = r[i.b];
    switch (i.op) {
      case Op::add: r[i.to] = a + b; break;
      case Op::bits: r[i.to] = a ^ b ^ i.number; break;
      case Op::multiply: r[i.to] = a * i.number + b; break;
      case Op::compare: p[i.predicate] = a < b; break;
      case Op::select: r[i.to] = p[i.predicate] ? a : b; break;
      case Op::wide: r[i.to] = static_cast<u32>(u64{a} * b >> 32); break;
      case Op::call: r[i.to] = (a < b ? b - a : a * 3 + b) ^ 77; break;
      default: r[i.to] = b;
    }
  }

  std::string end_of(const Stretch& block, u32 number) const {
    const std::string first = "B" + num(block.targets[0]);
    switch (block.end) {
      case End::branch: return (block.negated ? "@!p" : "@p") + num(block.predicate) + " bra " + first + ";";
      case End::jump: return "bra " + first + ";";
      case End::leave:
        return "setp.gt.u32 q, " + reg(block.reg) + ", 0xf0000000; @q " + (number % 2 == 0 ? "ret;" : "exit;");
      case End::indexed: {
        std::string names;
        for (u32 target : block.targets) names += (names.empty() ? "B" : ", B") + num(target);
        return "rem.u32 z, " + reg(block.reg) + ", " + num(static_cast<u32>(block.targets.size())) + "; T" +
               num(number) + ": .branchtargets " + names + "; brx.idx z, T" + num(number) + ";";
      }
      default: return "";
    }
  }

  std::mt19937 random_;
  std::vector<Stretch> blocks_;
};

}  // namespace

TEST_CASE("Whatever way lanes part and meet, each gets what it would get alone") {
  for (u32 seed = 0; seed < 300; ++seed) {
    const Source program(seed);
    CAPTURE(seed, program.text());
    Module module(program.text());
    Buffer<u32> out(kThreads * 4, kUntouched);
    const auto fault = module.run("k", {1, 1, 1}, {kThreads, 1, 1}, out.address());
    if (fault) UNSCOPED_INFO(fault->report);
    REQUIRE(!fault.has_value());
    for (u32 t = 0; t < kThreads; ++t) {
      const std::array<u32, 4> expected = program.alone(t);
      const std::array<u32, 4> found = {out[4 * t], out[4 * t + 1], out[4 * t + 2], out[4 * t + 3]};
      CAPTURE(t);
      REQUIRE(found == expected);
    }
  }
}
