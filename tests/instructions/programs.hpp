// Cases of instructions that are more than a function of registers: what goes to memory, what lanes and threads do
// together. Each is a few lines of PTX in a kernel that has everything ready, and the definition of what must be in %d0
// … %d3 of each thread afterwards.
#pragma once
#include "tests/instructions/case.hpp"

#include <array>

namespace instructions {

using Words = std::array<u64, 8>;  // 64 bytes
using Results = std::array<u64, 4>;  // %d0 … %d3

// A thread's own words: the same in every run, and no two alike.
inline u64 word(u32 thread, u32 i) {
  u64 x = (u64{thread} * 8 + i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 27;
}
inline Words words_of(u32 thread) {
  Words all;
  for (u32 i = 0; i < 8; ++i) all[i] = word(thread, i);
  return all;
}

// The body finds, for each thread: 64 bytes of `in` at %in (global), copies of them in global memory that it may change
// (%mine), in shared memory (%s, 32 bits; generic: %gs) and in local memory (own; generic: %gl); %t, the thread's
// number in its block, %go, whether active(%t), and %d0 … %d3, kUntouched. `constants` and the parameter `given` hold
// the words of kConstants and kGiven. Registers for anything: %a (64 bits), %r (32), %h (16), %f (f32), %g (f64), %q
// (128), %p.
constexpr int kPtx = 87;  // the newest version that most programs need

struct Program {
  std::string body;
  std::function<Results(u32 thread)> want;  // of %tid.x + %ntid.x * %ctaid.x
  std::function<Words(u32 thread)> in = words_of;
  std::string before;  // the kernel: functions, variables
  u32 threads = 80, cluster = 1;  // a block's, the last warp is no whole one; blocks, all of one cluster
  u32 target = 90;
  bool in_cluster = false;  // be it of one block
  bool only_simulated = false;  // the line that sets it says why
  int ptx = kPtx;  // the version that it needs
};
constexpr u32 kConstants = 5000, kGiven = 6000;

// The first warp is whole; of the others, some lanes.
inline bool active(u32 t) { return t < 32 || (t * 2654435761u >> 13) % 3 != 0; }
constexpr Results kNothing = {kUntouched, kUntouched, kUntouched, kUntouched};

inline std::string constants() {
  std::ostringstream s;
  s << ".const .align 16 .b64 constants[8] = {";
  for (u32 i = 0; i < 8; ++i) s << (i ? "," : "") << word(kConstants, i) << "U";
  return s.str() + "};\n";
}

inline std::string kernel(const Program& p, const std::string& name) {
  std::ostringstream s;
  s << p.before << "\n.visible .entry " << name
    << "(.param .u64 in, .param .u64 scratch, .param .u64 out, .param .align 16 .b8 given[64]) ";
  if (p.cluster > 1 || p.in_cluster) s << ".reqnctapercluster " << p.cluster << ", 1, 1 ";
  s << "{\n.shared .align 128 .b8 all_words[" << 64 * p.threads << "];\n.shared .align 128 .b8 spare[" << 64 * p.threads
    << "];\n"
    << ".local .align 16 .b8 own[64];\n"
    << ".reg .b64 %in, %mine, %out, %gs, %gl, %d<4>, %a<16>; .reg .b32 %t, %s, %all, %x, %n, %r<16>; .reg .b16 %h<16>; "
       ".reg .f32 %f<16>;\n"
    << ".reg .f64 %g<8>; " << (p.target < 70 ? "" : ".reg .b128 %q<4>; ") << ".reg .pred %go, %p<8>;\n"
    << "mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %x, %x, %n, %t;\n"
    << "ld.param.u64 %in, [in]; mul.wide.u32 %a0, %x, 64; add.u64 %in, %in, %a0;\n"
    << "ld.param.u64 %mine, [scratch]; add.u64 %mine, %mine, %a0;\n"
    << "ld.param.u64 %out, [out]; mul.wide.u32 %a0, %x, 32; add.u64 %out, %out, %a0;\n"
    << "mov.u32 %all, all_words; shl.b32 %s, %t, 6; add.u32 %s, %s, %all;\n"
    << "cvt.u64.u32 %gs, %s; cvta.shared.u64 %gs, %gs; mov.u64 %gl, own; cvta.local.u64 %gl, %gl;\n";
  for (u32 i = 0; i < 64; i += 16) {
    s << "ld.global.v2.b64 {%a0, %a1}, [%in+" << i << "]; st.global.v2.b64 [%mine+" << i
      << "], {%a0, %a1}; st.shared.v2.b64 [%s+" << i << "], {%a0, %a1}; st.local.v2.b64 [own+" << i
      << "], {%a0, %a1};\n";
  }
  s << "mul.lo.u32 %r0, %t, 2654435761; shr.u32 %r0, %r0, 13; rem.u32 %r0, %r0, 3; setp.lt.u32 %p0, %t, 32; "
       "setp.ne.or.u32 %go, %r0, 0, %p0;\n";
  for (u32 k = 0; k < 4; ++k) s << "mov.b64 %d" << k << ", " << kUntouched << "U;\n";
  s << "bar.sync 0;\n" << p.body << "\n";
  for (u32 k = 0; k < 4; ++k) s << "st.global.b64 [%out+" << 8 * k << "], %d" << k << ";\n";
  s << "ret;\n}\n";
  return s.str();
}
using Programs = std::vector<Program>;

// Forms that have each alternative of each place at least once: as many as the longest list has. "" leaves a place out.
inline std::vector<std::vector<std::string>> covering(const std::vector<std::vector<std::string>>& places) {
  std::size_t longest = 1;
  for (const auto& place : places) longest = std::max(longest, place.size());
  std::vector<std::vector<std::string>> forms(longest);
  for (std::size_t k = 0; k < longest; ++k) {
    for (std::size_t n = 0; n < places.size(); ++n)
      forms[k].push_back(places[n][(k + (k / places[n].size()) * (n % 2)) % places[n].size()]);
  }
  return forms;
}

// Bytes of words.
inline u64 bytes_at(const Words& words, u32 at, u32 count) {
  u8 raw[64];
  std::memcpy(raw, words.data(), 64);
  u64 value = 0;
  std::memcpy(&value, raw + at, count);
  return value;
}
inline Words with_bytes(Words words, u32 at, u64 value, u32 count) {
  u8 raw[64];
  std::memcpy(raw, words.data(), 64);
  std::memcpy(raw + at, &value, count);
  std::memcpy(words.data(), raw, 64);
  return words;
}
inline std::string number(u64 x) { return std::to_string(x); }

}  // namespace instructions
