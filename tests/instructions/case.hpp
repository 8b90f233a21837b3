// One tested form of an instruction: what is written, what its operands hold, and an independent definition of the
// result. Two runners use the same cases: run.cpp on a device through the driver, tests/simulator/isa_handlers.cpp on
// the simulator's functions directly.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace instructions {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// The bits of a register, in the low end of 64.
template <class T>
T from_bits(u64 bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
u64 to_bits(T value) {
  u64 bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

using Reference = std::function<u64(const u64* in)>;
using Same = bool (*)(u64 got, u64 want);

inline bool exact(u64 got, u64 want) { return got == want; }

// Kinds of operands: a PTX type, "f16x2"; with "@32" in a wider register, whose other bits are junk as a source and the
// type's extension as a destination; with ":b0" a part of it is selected; "amount": a u32 that mostly lies between 0
// and 70; "imm=5": written as it is.
struct Case {
  std::string form;      // "add.sat.s32"
  std::string operands;  // kinds, destination first: "s32 s32 s32"; "a|b": two destinations
  Reference reference;   // bits of the sources to bits of the destination; the second one's bits follow the first's
  Same same = exact;
};
// A function that returns them is a table, and may be long.
using Cases = std::vector<Case>;

// Makes a Reference of a function on values.
template <class R, class... A, class F, std::size_t... k>
Reference on_each(F f, std::index_sequence<k...>) {
  return [f](const u64* in) { return to_bits<R>(static_cast<R>(f(from_bits<A>(in[k])...))); };
}
template <class R, class... A, class F>
Reference on(F f) {
  return on_each<R, A...>(f, std::index_sequence_for<A...>{});
}

struct Kind {
  std::string type, literal, selector;
  u32 type_bits = 32, register_bits = 32;  // 1: a predicate
};

inline u32 type_bits(const std::string& type) {
  if (type == "pred") return 1;
  if (type == "amount") return 32;
  if (type == "e4m3x2" || type == "e5m2x2") return 16;
  if (type.find("x2") != std::string::npos || type.find("x4") != std::string::npos || type == "tf32") return 32;
  if (type == "bf16") return 16;
  return u32(std::stoul(type.substr(1)));
}

inline Kind kind(std::string text) {
  Kind k;
  if (text.rfind("imm=", 0) == 0) {
    k.literal = text.substr(4);
    k.type = "imm";
    return k;
  }
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    k.selector = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  const std::size_t at = text.find('@');
  k.type = text.substr(0, at);
  k.type_bits = type_bits(k.type);
  k.register_bits = at == std::string::npos ? k.type_bits : u32(std::stoul(text.substr(at + 1)));
  return k;
}
inline std::vector<std::string> words(const std::string& text, char separator = ' ') {
  std::vector<std::string> result;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) {
    if (!word.empty()) result.push_back(word);
  }
  return result;
}

// Values at which instructions go wrong.
inline const std::vector<u64>& edges(const std::string& type) {
  static const std::vector<u64> integers = [] {
    std::vector<u64> v;
    for (u32 bit : {0u, 1u, 2u, 4u, 5u, 7u, 8u, 15u, 16u, 23u, 24u, 31u, 32u, 47u, 63u}) {
      v.push_back(u64{1} << bit);
      v.push_back((u64{1} << bit) - 1);
      v.push_back(~(u64{1} << bit));
      v.push_back(0 - (u64{1} << bit));
    }
    for (u64 x : {u64{0}, ~u64{0}, u64{3}, u64{100}, u64{0x5555555555555555}, u64{0x123456789abcdef0}}) v.push_back(x);
    return v;
  }();
  static const std::vector<u64> f32 = {
      0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x3f800000,
      0xbf800000, 0x3f7fffff, 0x3f800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
      0x7f800001, 0x3f000000, 0x3f000001, 0x40490fdb, 0x4b000000, 0x4b800001, 0x4f000000, 0xcf000000, 0x4effffff,
      0x4f800000, 0x5f000000, 0x5f800000, 0xdf000000, 0x33800000, 0x34000000, 0x7e800000, 0x00400000, 0xc0200000,
      0x40200000, 0x3fc00000, 0xbf000000, 0x437f0000, 0x43000000, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000,
      0x38800000, 0x387fe000, 0x33000000, 0x33000001, 0x43e00000, 0x43e80000, 0x43f00000, 0x7f7f8000, 0x7f7f7fff};
  static const std::vector<u64> f64 = [] {
    std::vector<u64> v = {0,
                          u64{1} << 63,
                          1,
                          0x000fffffffffffff,
                          0x0010000000000000,
                          0x7fefffffffffffff,
                          0x7ff0000000000000,
                          0xfff0000000000000,
                          0x7ff8000000000000,
                          0xfff8000000000001,
                          0x3ff0000000000001,
                          0x41dfffffffc00000,
                          0x41e0000000000000,
                          0xc1e0000000200000,
                          0x43e0000000000000,
                          0xc3e0000000000001,
                          0x43f0000000000000,
                          0x36a0000000000000,
                          0x369fffffffffffff,
                          0x380fffffffffffff,
                          0x47efffffefffffff,
                          0x47effffff0000000};
    for (double x : {1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.14159265358979, 1e10, -1e-10, 255.5, 65519.9, 65520.0, 1e300})
      v.push_back(to_bits(x));
    return v;
  }();
  static const std::vector<u64> f16 = {0,      0x8000, 1,      0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                       0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                       0x7e00, 0x7c01, 0xfe01, 0x3800, 0x4248, 0x5bff, 0x6400, 0x6800,
                                       0x0002, 0x1000, 0x9001, 0x3555, 0xb800, 0x3e00, 0x7ff7};
  static const std::vector<u64> bf16 = {0,      0x8000, 1,      0x8001, 0x007f, 0x807f, 0x0080, 0x8080,
                                        0x3f80, 0xbf80, 0x3f7f, 0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
                                        0x7fc0, 0x7f81, 0xffc1, 0x3f00, 0x4049, 0x5f00, 0x4300, 0x3b80,
                                        0x0040, 0x2000, 0xa001, 0x3eab, 0xbf00, 0x3fc0, 0xfff7};
  if (type == "f32" || type == "tf32") return f32;
  if (type == "f64") return f64;
  if (type == "f16" || type == "f16x2") return f16;
  if (type == "bf16" || type == "bf16x2") return bf16;
  return integers;
}

inline u64 mask(u32 bits) { return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1; }

// The test values of an operand, one after the other; the same in every run.
class TestValues {
 public:
  explicit TestValues(const Kind& kind)
      : kind_(kind),
        edges_(edges(kind.type)),
        is_amount_(kind.type == "amount"),
        is_pair_(kind.type == "f16x2" || kind.type == "bf16x2" || kind.type == "u16x2" || kind.type == "s16x2") {}

  u64 next(std::mt19937_64& random) const {
    const auto pick = [&] { return random() % 4 == 0 ? random() : edges_[random() % edges_.size()]; };
    if (kind_.register_bits == 1) return random() & 1;
    if (is_amount_) return random() % 4 ? random() % 71 : pick() & mask(32);
    u64 bits = pick() & mask(kind_.type_bits);
    if (is_pair_) bits = (pick() & 0xffff) | (pick() & 0xffff) << 16;
    return (bits | (random() << kind_.type_bits % 64 & ~mask(kind_.type_bits))) & mask(kind_.register_bits);
  }

 private:
  const Kind& kind_;
  const std::vector<u64>& edges_;
  bool is_amount_, is_pair_;
};

struct Operands {
  std::vector<Kind> destinations, sources;
};
inline Operands operands(const Case& c) {
  Operands result;
  const auto all = words(c.operands);
  for (const auto& d : words(all[0], '|')) result.destinations.push_back(kind(d));
  for (std::size_t i = 1; i < all.size(); ++i) result.sources.push_back(kind(all[i]));
  return result;
}

// Inputs of one case: kThreads tuples.
constexpr u32 kThreads = 512;
inline std::vector<std::vector<u64>> inputs(const Case& c) {
  const Operands o = operands(c);
  std::mt19937_64 random(std::hash<std::string>{}("seed"));
  for (const char letter : c.form) random.seed(random() ^ u64(letter));
  std::vector<std::vector<u64>> result;
  for (const Kind& k : o.sources) {
    auto& column = result.emplace_back();
    const TestValues values(k);
    for (u32 thread = 0; thread < kThreads; ++thread) column.push_back(values.next(random));
  }
  return result;
}

// Is this PTX of its own, and not one form?
inline bool is_text(const Case& c) { return c.form[0] == '{'; }

// Threads from the sixth warp on execute the instruction only if this holds; the others leave the destination alone.
inline bool executes(u32 thread) { return thread < 160 || (thread * 2654435761u >> 13) % 3 != 0; }
constexpr u64 kUntouched = 0xa5a5'a5a5'a5a5'a5a5u;

}  // namespace instructions
