// Random kernels, valid by construction, each with exactly one correct result: what a thread computes depends neither
// on the order in which threads run nor on anything that the PTX manual leaves open. A seed gives the same kernel on
// every machine.
//
// Instructions come from the cases of tests/instructions, so whatever is tested there one by one is mixed here: in
// straight lines, under guards, in branches and loops that lanes take differently, in switches, in functions, also in
// ones that call themselves; with private, shared and global memory and the warp's own operations
// between them.
//
// Warp operations and barriers occur only where all threads pass. Left out are calls through pointers and recursion in
// branches (ptxas 13.0 crashes on some of them); approximations, whose last bits may differ; sums and products without
// a rounding modifier, which a compiler may contract; and what tests/instructions/open.hpp lists as undefined.
#pragma once
#include "tests/instructions/case.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace fuzz {

using namespace instructions;

// Registers: pools by what their values are meant to be, so that floating-point instructions see numbers.
struct Pool {
  char name;
  u32 bits, count;
  const char* type;  // whose edge values go in
};
constexpr std::array<Pool, 8> kPools = {{{'i', 16, 4, "u16"},
                                         {'h', 16, 5, "f16"},
                                         {'r', 32, 8, "u32"},
                                         {'f', 32, 6, "f32"},
                                         {'v', 32, 4, "f16x2"},
                                         {'d', 64, 5, "u64"},
                                         {'g', 64, 5, "f64"},
                                         {'p', 1, 4, "pred"}}};
constexpr u32 kValues = 4 + 5 + 8 + 6 + 4 + 5 + 5 + 4;
constexpr u32 kBlockThreads = 64, kBlocks = 2;
constexpr u32 kFuzzThreads = kBlockThreads * kBlocks;
constexpr u32 kScratch = 64;  // bytes of private memory, local and global, a thread

// The instructions, by opcode, so that one with a thousand forms comes no more often than one with two. forms.inc was
// written by `check '[forms]'`; it stays as it is, since another list would make other kernels of all seeds.
struct Form {
  std::string form, operands;
};
inline const std::vector<std::vector<Form>>& families() {
  static const auto all = [] {
    static constexpr const char* kForms[] = {
#include "tests/fuzz/forms.inc"
    };
    std::vector<std::vector<Form>> result;
    for (const char* line : kForms) {
      const auto parts = words(line, ':');
      if (parts.size() == 1)
        result.emplace_back();
      else
        result.back().push_back({parts[0], std::string(line).substr(parts[0].size() + 1)});
    }
    return result;
  }();
  return all;
}

// What registers begin with, of each pool's type. Not those of tests/instructions, which may become more.
inline const std::vector<u64>& starting_values(const std::string& type) {
  static const std::vector<u64> integers = [] {
    std::vector<u64> v = {0, ~u64{0}, 3, 100, 0x5555555555555555, 0x123456789abcdef0};
    for (const u32 bit : {0u, 1u, 4u, 7u, 8u, 15u, 16u, 23u, 31u, 32u, 47u, 63u}) {
      for (const u64 x : {u64{1} << bit, (u64{1} << bit) - 1, ~(u64{1} << bit)}) v.push_back(x);
    }
    return v;
  }();
  static const std::vector<u64> f32 = {
      0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x3f800000,
      0xbf800000, 0x3f7fffff, 0x3f800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
      0x3f000000, 0x3f000001, 0x40490fdb, 0x4b800001, 0x4f000000, 0xcf000000, 0x5f000000, 0xdf000000, 0x33800000,
      0x34000000, 0x7e800000, 0x00400000, 0xc0200000, 0x437f0000, 0x477fe000, 0x477ff000, 0x38800000, 0x387fe000};
  static const std::vector<u64> f64 = {0,
                                       u64{1} << 63,
                                       1,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       0x3ff0000000000000,
                                       0xbff0000000000000,
                                       0x3ff0000000000001,
                                       0x41dfffffffc00000,
                                       0xc1e0000000200000,
                                       0x43e0000000000000,
                                       0x36a0000000000000,
                                       0x380fffffffffffff,
                                       0x47efffffefffffff,
                                       0x400921fb54442d18,
                                       0x3fe0000000000000};
  static const std::vector<u64> f16 = {0,      0x8000, 1,      0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3bff, 0x3c01,
                                       0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3800, 0x4248, 0x6400, 0x1000};
  return type == "f32" ? f32 : type == "f64" ? f64 : type[0] == 'f' ? f16 : integers;
}

class Generator {
 public:
  explicit Generator(u64 seed) : random_(seed * 0x9e3779b97f4a7c15 + 1), seed_(seed) {}

  // The kernel k<seed>(in, out, scratch), with the functions that it calls.
  std::string kernel() {
    const std::string name = std::to_string(seed_);
    budget_ = 6 + below(40);
    callable_ = true;
    std::string body = statements(0, true);
    callable_ = false;
    std::string text = functions(name);
    text += ".visible .entry k" + name + "(.param .u64 in, .param .u64 out, .param .u64 scratch) {\n" + registers() +
            "  .shared .align 16 .b8 shared" + name + "[" + std::to_string(kBlockThreads * 8 + 64) + "];\n" +
            "  mov.u32 %me, %tid.x;\n  mov.u32 %lane, %laneid;\n  mov.u32 %x0, %ctaid.x;\n"
            "  mad.lo.u32 %x0, %x0, 64, %me;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
            "  mul.wide.u32 %y0, %x0, " +
            std::to_string(kValues * 8) + ";\n  add.u64 %in, %in, %y0;\n  add.u64 %out, %out, %y0;\n" +
            "  ld.param.u64 %own, [scratch];\n  mul.wide.u32 %y0, %x0, 64;\n  add.u64 %own, %own, %y0;\n"
            "  mov.u32 %sh, shared" +
            name + ";\n";
    u32 place = 0;
    for (const Pool& pool : kPools) {
      for (u32 k = 0; k < pool.count; ++k, place += 8) text += load(pool, k, place);
    }
    for (u32 at = 0; at < kScratch; at += 8) text += "  st.local.b64 [%loc+" + std::to_string(at) + "], %d0;\n";
    text += body;
    place = 0;
    for (const Pool& pool : kPools) {
      for (u32 k = 0; k < pool.count; ++k, place += 8) text += store(pool, k, place);
    }
    return text + "  ret;\n}\n";
  }

  // What the registers begin with: kValues words a thread.
  std::vector<u64> inputs() const {
    std::mt19937_64 random(seed_ + 77);
    const auto pick = [&random](const std::string& type) {
      const u64 dice = random();
      const auto& list = starting_values(type);
      return dice % 4 == 0 ? random() : list[dice / 4 % list.size()];
    };
    std::vector<u64> result;
    for (u32 thread = 0; thread < kFuzzThreads; ++thread) {
      for (const Pool& pool : kPools) {
        for (u32 k = 0; k < pool.count; ++k) {
          const u64 low = pick(pool.type), high = pool.name == 'v' ? pick(pool.type) : 0;
          result.push_back(pool.name == 'v' ? (low & 0xffff) | (high & 0xffff) << 16 : low & mask(pool.bits));
        }
      }
    }
    return result;
  }

 private:
  std::mt19937_64 random_;
  u64 seed_;
  i32 budget_ = 0;
  u32 labels_ = 0, loops_ = 0;
  bool callable_ = false, calls_ = false, recursion_ = false;

  u32 below(u32 n) { return u32(random_() % n); }
  bool one_in(u32 n) { return below(n) == 0; }
  std::string label() { return "L" + std::to_string(labels_++); }

  static const Pool& pool(char name) {
    return *std::find_if(kPools.begin(), kPools.end(), [name](const Pool& p) { return p.name == name; });
  }
  std::string any(char name) { return "%" + (name + std::to_string(below(pool(name).count))); }
  // A random register for each $ and the name of a pool, from left to right. (In a sum of strings, random choices
  // would come in an order of the compiler's own, and a seed be another kernel on another machine.)
  std::string fill(const std::string& pattern) {
    std::string text;
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      if (pattern[k] == '$')
        text += any(pattern[++k]);
      else
        text += pattern[k];
    }
    return text;
  }
  char one_of(const char* names) { return names[below(u32(std::strlen(names)))]; }
  static std::string num(u64 x) { return std::to_string(x); }

  static std::string registers() {
    std::string text =
        "  .reg .b32 %me, %lane, %sh, %x<8>;\n  .reg .b64 %in, %out, %own, %loc, %y<8>;\n  .reg .pred %q<4>;\n"
        "  .reg .b32 %n<64>;\n";
    for (const Pool& p : kPools)
      text += "  .reg ." + (p.bits == 1 ? "pred" : "b" + num(p.bits)) + " %" + p.name + "<" + num(p.count) + ">;\n";
    return text + "  .local .align 16 .b8 local[" + num(kScratch) + "];\n  mov.u64 %loc, local;\n";
  }
  static std::string load(const Pool& p, u32 k, u32 place) {
    const std::string name = std::string("%") + p.name + num(k), at = "[%in+" + num(place) + "]";
    if (p.bits == 1) return "  ld.global.b32 %x0, " + at + ";\n  setp.ne.u32 " + name + ", %x0, 0;\n";
    return "  ld.global.b" + num(p.bits) + " " + name + ", " + at + ";\n";
  }
  static std::string store(const Pool& p, u32 k, u32 place) {
    const std::string name = std::string("%") + p.name + num(k), at = "[%out+" + num(place) + "]";
    if (p.bits == 1) return "  selp.b32 %x0, 1, 0, " + name + ";\n  st.global.b32 " + at + ", %x0;\n";
    return "  st.global.b" + num(p.bits) + " " + at + ", " + name + ";\n";
  }

  char pool_of(const Kind& k) {
    const std::string& t = k.type;
    if (k.register_bits == 1) return 'p';
    if (t.find("x2") != std::string::npos && k.register_bits == 32) return 'v';
    const bool real = t[0] == 'f' || t[0] == 't' || t.rfind("bf", 0) == 0;
    if (k.register_bits == 16) return real ? 'h' : 'i';
    if (k.register_bits == 32) return real && t != "f16" && t != "bf16" ? 'f' : 'r';
    return real && t == "f64" ? 'g' : 'd';
  }
  std::string source(const Kind& k, bool constants) {
    if (!k.literal.empty()) return k.literal;
    if (k.type == "amount" && one_in(2)) return num(below(70));
    const char from = pool_of(k);
    const bool number = k.type[0] == 'u' || k.type[0] == 's' || (k.type[0] == 'b' && k.type[1] != 'f');
    if (constants && number && k.selector.empty() && from != 'p' && from != 'v' && one_in(8))
      return num(below(3) ? below(256) : below(32768));
    if (k.type == "f32" && one_in(10)) {
      char text[16];
      std::snprintf(text, sizeof text, "0f%08X", u32(starting_values("f32")[below(36)]));
      return text;
    }
    return any(from) + (k.selector.empty() ? "" : "." + k.selector);
  }

  std::string operation() {
    const auto& family = families()[below(u32(families().size()))];
    const Form& c = family[below(u32(family.size()))];
    const Operands o = operands({c.form, c.operands, {}});
    std::string text = "  ";
    if (one_in(5)) text += fill(one_in(2) ? "@$p " : "@!$p ");
    text += c.form + " ";
    std::string first;
    for (std::size_t k = 0; k < o.destinations.size(); ++k) {
      std::string d = any(pool_of(o.destinations[k]));
      if (d == first) d = "%" + (d.substr(1, 1) + (d.back() == '0' ? "1" : "0"));
      if (k == 0) first = d;
      text += (k ? "|" : "") + d + (o.destinations[k].selector.empty() ? "" : "." + o.destinations[k].selector);
    }
    for (const Kind& k : o.sources) text += ", " + source(k, c.form[0] != 'v');  // video instructions take none
    return text + ";\n";
  }
  std::string moves() {
    static constexpr const char* kMoves[] = {"mov.b32 $f, $r",       "mov.b32 $r, $f",       "mov.b64 {$r, _}, $d",
                                             "mov.b64 {_, $f}, $g",  "mov.b64 $d, {$r, $f}", "mov.b64 $g, {$r, $f}",
                                             "mov.b32 $v, {$h, $h}", "mov.b32 {$i, $h}, $v", "mov.b64 $g, $d",
                                             "mov.b64 $d, $g",       "mov.b16 $h, $i",       "mov.b16 $i, $h"};
    return fill(std::string("  ") + kMoves[below(12)] + ";\n");
  }
  // Carries: no other instruction comes between.
  std::string chain() {
    const bool wide = one_in(2), add = one_in(2);
    const std::string operands = wide ? ".u64 $d, $d, $d;\n" : ".u32 $r, $r, $r;\n", name = add ? "  add" : "  sub";
    std::string text = name + ".cc" + operands;
    for (u32 k = below(3); k > 0; --k) text += name + "c.cc" + operands;
    return fill(text + name + "c" + operands);
  }
  // A load or store at a place of the thread's own that a register chooses.
  std::string memory() {
    static constexpr struct {
      const char* type;
      char pool;
      u32 bytes;
    } kTypes[] = {{"u8", 'i', 1},  {"s8", 'r', 1},  {"b16", 'h', 2}, {"s16", 'r', 2}, {"u16", 'i', 2}, {"b32", 'r', 4},
                  {"f32", 'f', 4}, {"b64", 'd', 8}, {"f64", 'g', 8}, {"u8", 'd', 1},  {"s16", 'd', 2}, {"s32", 'd', 4}};
    const auto& t = kTypes[below(12)];
    const u32 shape = below(6), elements = shape < 2 && t.bytes <= 4 ? 4 : shape < 4 ? 1 : 2, size = t.bytes * elements;
    const bool local = one_in(2), generic = one_in(3), is_load = one_in(2);
    const std::string base = local ? "%loc" : "%own", space = generic ? "" : local ? ".local" : ".global";
    std::string text = fill("  and.b32 %x1, $r, ") + num((kScratch - 1) & ~(size - 1)) +
                       ";\n  cvt.u64.u32 %y1, %x1;\n  add.u64 %y1, %y1, " + base + ";\n";
    if (local && generic) text += "  cvta.local.u64 %y1, %y1;\n";
    const u32 start = below(4);
    std::string list;
    for (u32 k = 0; k < elements; ++k) list += (k ? ", %" : "%") + (t.pool + num((start + k) % pool(t.pool).count));
    if (elements > 1) list = "{" + list + "}";
    const std::string type = (elements == 1 ? "." : ".v" + num(elements) + ".") + t.type;
    return text + (is_load ? "  ld" + space + type + " " + list + ", [%y1];\n"
                           : "  st" + space + type + " [%y1], " + list + ";\n");
  }
  std::string warp_operation() {
    static constexpr const char* kShuffles[] = {"up", "down", "bfly", "idx"};
    static constexpr const char* kVotes[] = {"all.pred $p, $p", "any.pred $p, !$p", "uni.pred $p, $p",
                                             "ballot.b32 $r, $p"};
    static constexpr const char* kMatches[] = {
        "and.b64 %y2, $d, 3;\n  match.any.sync.b64 $r, %y2", "and.b32 %x2, $r, 3;\n  match.any.sync.b32 $r, %x2",
        "and.b64 %y2, $d, 3;\n  match.all.sync.b64 $r|$p, %y2", "and.b32 %x2, $r, 1;\n  match.all.sync.b32 $r|$p, %x2"};
    static constexpr const char* kReductions[] = {"add.s32", "add.u32", "min.s32", "min.u32", "max.s32",
                                                  "max.u32", "and.b32", "or.b32",  "xor.b32"};
    switch (below(5)) {
      case 0: {
        const u32 mode = below(4), segment = 1u << (1 + below(5));
        const std::string c = num((32 - segment) << 8 | (mode == 0 ? 0 : 31));
        const std::string to = one_in(2) ? "$r|$p, " : "$r, ", from = one_in(2) ? "$r, " : "$f, ";
        const std::string lane = one_in(2) ? num(below(32)) : "$r";
        return fill(std::string("  shfl.sync.") + kShuffles[mode] + ".b32 " + to + from + lane + ", " + c + ", -1;\n");
      }
      case 1: return fill(std::string("  vote.sync.") + kVotes[below(4)] + ", -1;\n");
      case 2: return fill(std::string("  ") + kMatches[below(4)] + ", -1;\n");
      case 3: return fill(std::string("  redux.sync.") + kReductions[below(9)] + " $r, $r, -1;\n");
      default: return fill("  bar.warp.sync -1;\n  shfl.sync.bfly.b32 $v, $v, 1, 31, -1;\n");
    }
  }
  // Every thread writes its place in shared memory, then reads another's.
  std::string exchange() {
    const bool wide = one_in(2);
    const std::string size = wide ? "8" : "4", type = wide ? ".b64 " : ".b32 ";
    const std::string from = std::string("$") + one_of(wide ? "dg" : "rf"),
                      to = std::string("$") + one_of(wide ? "dg" : "rf");
    const std::string other = one_in(2) ? num(below(64)) : "$r";
    return fill("  mad.lo.u32 %x3, %me, " + size + ", %sh;\n  st.shared" + type + "[%x3], " + from +
                ";\n  bar.sync 0;\n  xor.b32 %x3, %me, " + other +
                ";\n  and.b32 %x3, %x3, 63;\n  mad.lo.u32 %x3, %x3, " + size + ", %sh;\n  ld.shared" + type + to +
                ", [%x3];\n  bar.sync 0;\n");
  }
  // Atomic operations whose order does not matter, on few places; then everyone sees what has come of them.
  std::string reduction() {
    static constexpr const char* kOperations[] = {"add.u32", "min.s32", "max.u32", "and.b32", "or.b32",
                                                  "xor.b32", "add.u64", "max.s64", "min.u64", "inc.u32"};
    const u32 which = below(10);
    const bool wide = which >= 6 && which <= 8;
    const std::string reg = wide ? "$d" : "$r", at = "+" + num(kBlockThreads * 8) + "]";
    const std::string operand = which == 9 ? num(5 + below(100)) : reg;
    // The previous value depends on the order of execution, so it is discarded.
    const std::string operation =
        one_in(2) ? std::string("red.shared.") + kOperations[which] + " [%x4"
                  : std::string("atom.shared.") + kOperations[which] + (wide ? " %y3, [%x4" : " %x6, [%x4");
    return fill(
        "  and.b32 %x4, $r, 24;\n  add.u32 %x4, %x4, %sh;\n  setp.lt.u32 %q0, %me, 4;\n"
        "  mad.lo.u32 %x5, %me, 8, %sh;\n  @%q0 st.shared.b64 [%x5" +
        at + ", $d;\n  bar.sync 0;\n  " + operation + at + ", " + operand + ";\n  bar.sync 0;\n  ld.shared." +
        (wide ? "b64 " : "b32 ") + reg + ", [%x4" + at + ";\n  bar.sync 0;\n");
  }
  std::string block_reduction() {
    static constexpr const char* kOperations[] = {"popc.u32 $r, 1, $p", "and.pred $p, 1, $p", "or.pred $p, 2, !$p"};
    return fill(std::string("  bar.red.") + kOperations[below(3)] + ";\n");
  }

  std::string branch(u32 depth) {
    const std::string other = label(), end = label();
    const bool by_bit = one_in(2), negated = one_in(2), two_sides = one_in(2);
    std::string text;
    const std::string bit = num(1u << below(5));
    if (by_bit) text = fill("  and.b32 %x7, $r, " + bit + ";\n  setp.ne.u32 %q1, %x7, 0;\n");
    text += fill(std::string(negated ? "  @!" : "  @") + (by_bit ? "%q1" : "$p") + " bra " + other + ";\n");
    text += statements(depth + 1, false);
    if (!two_sides) return text + other + ":\n";
    text += "  bra " + end + ";\n" + other + ":\n";
    text += statements(depth + 1, false);
    return text + end + ":\n";
  }
  std::string loop(u32 depth, bool together) {
    const bool same = together && one_in(2);  // all threads loop equally often
    const std::string counter = "%n" + num(loops_++), start = label(), out = label();
    std::string text =
        same ? "  mov.u32 " + counter + ", " + num(1 + below(5)) + ";\n" : fill("  and.b32 " + counter + ", $r, 7;\n");
    text += start + ":\n";
    text += statements(depth + 1, same);
    if (!same && one_in(3)) text += fill("  @$p bra " + out + ";\n");
    return text + "  setp.ne.u32 %q2, " + counter + ", 0;\n  sub.u32 " + counter + ", " + counter +
           ", 1;\n  @%q2 bra " + start + ";\n" + out + ":\n";
  }
  std::string choice(u32 depth) {
    const u32 ways = 2 + below(3);
    const std::string end = label(), table = "T" + num(labels_++);
    std::vector<std::string> targets;
    std::string list;
    for (u32 k = 0; k < ways; ++k) {
      targets.push_back(label());
      list += (k ? ", " : "") + targets[k];
    }
    std::string text = fill("  and.b32 %x7, $r, 3;\n  min.u32 %x7, %x7, " + num(ways - 1) + ";\n" + table +
                            ": .branchtargets " + list + ";\n  brx.idx %x7, " + table + ";\n");
    for (u32 k = 0; k < ways; ++k) {
      text += targets[k] + ":\n";
      text += statements(depth + 1, false);
      if (k + 1 < ways && !one_in(4)) text += "  bra " + end + ";\n";
    }
    return text + end + ":\n";
  }
  std::string call(u32 depth) {
    calls_ = true;
    const std::string name = num(seed_);
    std::string text =
        "  {\n  .param .b32 a0;\n  .param .b64 a1;\n  .param .align 8 .b8 b0[16];\n"
        "  st.param.b32 [a0], $r;\n  st.param.b64 [a1], $d;\n";
    if (depth > 0 || one_in(2)) {
      text += "  call (b0), " + std::string(one_in(2) ? "f" : "g") + name + ", (a0, a1);\n";
    } else {
      recursion_ = true;
      text += "  and.b32 %x1, $r, 3;\n  st.param.b32 [a0], %x1;\n  call (b0), s" + name + ", (a0, a1);\n";
    }
    return fill(text + "  ld.param.b32 $r, [b0];\n  ld.param.b64 $d, [b0+8];\n  }\n");
  }
  // f, g: some instructions on the arguments. s: calls itself.
  std::string functions(const std::string& name) {
    if (!calls_) return "";
    std::string text;
    const std::string shape = "(.param .b32 a0, .param .b64 a1)", results = "(.param .align 8 .b8 b0[16]) ";
    for (const char f : {'f', 'g'}) {
      text += ".func " + results + f + name + shape + " {\n" + registers() + "  mov.u32 %lane, %laneid;\n";
      u32 n = 1;
      for (const Pool& p : kPools) {
        for (u32 k = 0; k < p.count; ++k) {
          const std::string to = std::string("%") + p.name + num(k);
          if (p.bits == 1)
            text += "  setp.gt.u32 " + to + ", %lane, " + num(n++ % 32) + ";\n";
          else if (p.bits == 16)
            text += "  mov.b16 " + to + ", " + num(0x3c00 + n++ * 37) + ";\n";
          else
            text += "  ld.param.b" + num(p.bits) + " " + to + (p.bits == 32 ? ", [a0];\n" : ", [a1];\n");
        }
      }
      for (u32 at = 0; at < kScratch; at += 8) text += "  st.local.b64 [%loc+" + num(at) + "], %d0;\n";
      for (u32 k = 2 + below(8); k > 0; --k) text += operation();
      text += fill("  st.param.b32 [b0], $r;\n  st.param.b64 [b0+8], $d;\n  ret;\n}\n");
    }
    if (!recursion_) return text;
    return text + ".func " + results + "s" + name + shape + " {\n" + registers() +
           "  ld.param.b32 %r0, [a0];\n  ld.param.b64 %d0, [a1];\n  setp.eq.u32 %p0, %r0, 0;\n  @%p0 bra LAST;\n"
           "  sub.u32 %r1, %r0, 1;\n  mad.lo.u64 %d1, %d0, 6364136223846793005, 11;\n  {\n  .param .b32 u0;\n"
           "  .param .b64 u1;\n  .param .align 8 .b8 w0[16];\n  st.param.b32 [u0], %r1;\n  st.param.b64 [u1], %d1;\n"
           "  call (w0), s" +
           name +
           ", (u0, u1);\n  ld.param.b32 %r2, [w0];\n  ld.param.b64 %d2, [w0+8];\n  }\n  add.u64 %d0, %d0, %d2;\n"
           "  xor.b32 %r0, %r0, %r2;\nLAST:\n  st.param.b32 [b0], %r0;\n  st.param.b64 [b0+8], %d0;\n  ret;\n}\n";
  }

  // `together`: all threads of the block pass here, as often as each other.
  std::string statements(u32 depth, bool together) {
    std::string text;
    for (u32 n = 1 + below(depth == 0 ? 30 : 6); n > 0 && budget_ > 0; --n) {
      --budget_;
      const u32 dice = below(32);
      if (dice < 16)
        text += operation();
      else if (dice < 18)
        text += moves();
      else if (dice < 19)
        text += chain();
      else if (dice < 22)
        text += memory();
      else if (dice < 24 && depth < 3)
        text += branch(depth);
      else if (dice < 25 && depth < 3)
        text += loop(depth, together);
      else if (dice < 26 && depth < 3)
        text += choice(depth);
      else if (dice < 27 && callable_)
        text += call(depth);
      else if (dice < 29 && together)
        text += warp_operation();
      else if (dice < 30 && together)
        text += exchange();
      else if (dice < 31 && together)
        text += reduction();
      else if (together)
        text += block_reduction();
    }
    return text;
  }
};

}  // namespace fuzz
