// Comparisons, selections, conversions and moves.
#pragma once
#include "tests/instructions/float.hpp"
#include "tests/instructions/integer.hpp"

#include <algorithm>

namespace instructions {

// -1, 0, 1, or 2 for unordered.
template <class T>
int order(T a, T b) {
  if (a != a || b != b) return 2;
  return a < b ? -1 : a == b ? 0 : 1;
}
struct Comparing {
  const char* name;
  bool (*holds)(int order);
};
inline const std::vector<Comparing>& comparisons(const std::string& kind) {
  static const std::vector<Comparing> equal = {{"eq", [](int o) { return o == 0; }},
                                               {"ne", [](int o) { return o == -1 || o == 1; }}};
  static const std::vector<Comparing> is_signed = [] {
    auto v = equal;
    v.push_back({"lt", [](int o) { return o == -1; }});
    v.push_back({"le", [](int o) { return o == -1 || o == 0; }});
    v.push_back({"gt", [](int o) { return o == 1; }});
    v.push_back({"ge", [](int o) { return o == 1 || o == 0; }});
    return v;
  }();
  static const std::vector<Comparing> is_unsigned = [] {
    auto v = is_signed;
    v.push_back({"lo", is_signed[2].holds});
    v.push_back({"ls", is_signed[3].holds});
    v.push_back({"hi", is_signed[4].holds});
    v.push_back({"hs", is_signed[5].holds});
    return v;
  }();
  static const std::vector<Comparing> is_float = [] {
    auto v = is_signed;
    v.push_back({"equ", [](int o) { return o == 0 || o == 2; }});
    v.push_back({"neu", [](int o) { return o != 0; }});
    v.push_back({"ltu", [](int o) { return o == -1 || o == 2; }});
    v.push_back({"leu", [](int o) { return o != 1; }});
    v.push_back({"gtu", [](int o) { return o == 1 || o == 2; }});
    v.push_back({"geu", [](int o) { return o != -1; }});
    v.push_back({"num", [](int o) { return o != 2; }});
    v.push_back({"nan", [](int o) { return o == 2; }});
    return v;
  }();
  if (kind == "b") return equal;
  if (kind == "u") return is_unsigned;
  return kind == "s" ? is_signed : is_float;
}

// A type that can be compared: how two registers of it relate.
struct Comparable {
  std::string type, kind;
  bool ftz;
  std::function<int(u64, u64)> order;
};
inline std::vector<Comparable> comparables() {
  std::vector<Comparable> all;
  each_bits([&](auto zero, std::string t) {
    using T = decltype(zero);
    all.push_back({t, "b", false, [](u64 a, u64 b) { return order(from_bits<T>(a), from_bits<T>(b)); }});
  });
  each_integer([&](auto zero, std::string t) {
    using T = decltype(zero);
    all.push_back({t, t.substr(0, 1), false, [](u64 a, u64 b) { return order(from_bits<T>(a), from_bits<T>(b)); }});
  });
  for (const bool ftz : {false, true}) {
    all.push_back({"f32", "f", ftz, [ftz](u64 a, u64 b) {
                     const auto in = [ftz](u64 x) {
                       return ftz ? without_subnormal(from_bits<float>(x)) : from_bits<float>(x);
                     };
                     return order(in(a), in(b));
                   }});
    all.push_back({"f16", "f", ftz, [ftz](u64 a, u64 b) {
                     const auto in = [ftz](u64 x) {
                       return double(value_of(ftz ? flushed_code(u16(x), kHalf) : u16(x), kHalf));
                     };
                     return order(in(a), in(b));
                   }});
  }
  all.push_back({"f64", "f", false, [](u64 a, u64 b) { return order(from_bits<double>(a), from_bits<double>(b)); }});
  all.push_back({"bf16", "f", false, [](u64 a, u64 b) {
                   return order(double(value_of(u16(a), kBrain)), double(value_of(u16(b), kBrain)));
                 }});
  return all;
}

inline bool combined(bool value, const std::string& how, bool with) {
  return how == ".and" ? value && with : how == ".or" ? value || with : how == ".xor" ? value != with : value;
}

inline Cases compare_cases() {
  Cases cases;
  for (const Comparable& type : comparables()) {
    const bool half = type.type == "f16" || type.type == "bf16";
    for (const Comparing& comparing : comparisons(type.kind)) {
      for (const std::string how : {"", ".and", ".or", ".xor"}) {
        const std::string middle = comparing.name + how + (type.ftz ? ".ftz" : "") + ".";
        const std::string sources = " " + type.type + " " + type.type + (how.empty() ? "" : " pred");
        const auto p = [=](const u64* in) {
          return combined(comparing.holds(type.order(in[0], in[1])), how, !how.empty() && in[2]);
        };
        const auto q = [=](const u64* in) {
          return combined(!comparing.holds(type.order(in[0], in[1])), how, !how.empty() && in[2]);
        };
        cases.push_back({"setp." + middle + type.type, "pred" + sources, [=](const u64* in) { return u64{p(in)}; }});
        if (!half) {
          cases.push_back({"setp." + middle + type.type, "pred|pred" + sources,
                           [=](const u64* in) { return u64{p(in)} | u64{q(in)} << 1; }});
        }
        struct To {
          const char* type;
          u64 yes;
        };
        std::vector<To> destinations = {{"u32", 0xffffffff}, {"s32", 0xffffffff}, {"f32", 0x3f800000}};
        if (half) destinations = {{"u16", 0xffff}, {"s16", 0xffff}, {"u32", 0xffffffff}, {"s32", 0xffffffff}};
        if (type.type != "bf16") destinations.push_back({"f16", 0x3c00});
        if (!type.ftz) destinations.push_back({"bf16", 0x3f80});
        for (const To& to : destinations) {
          cases.push_back({"set." + middle + to.type + "." + type.type, to.type + sources,
                           [=](const u64* in) { return p(in) ? to.yes : 0; }});
        }
        // Pairs.
        if (!half) continue;
        const std::string pair = type.type + "x2", pairs = " " + pair + " " + pair + (how.empty() ? "" : " pred");
        const auto at = [=](const u64* in, int shift) {
          const u64 shifted[] = {u64(u16(in[0] >> shift)), u64(u16(in[1] >> shift)), how.empty() ? 0 : in[2]};
          return u64{p(shifted)};
        };
        cases.push_back(
            {"setp." + middle + pair, "pred|pred" + pairs, [=](const u64* in) { return at(in, 0) | at(in, 16) << 1; }});
        for (const To& to : {To{pair == "f16x2" ? "f16x2" : "bf16x2", pair == "f16x2" ? 0x3c00u : 0x3f80u},
                             To{"u32", 0xffff}, To{"s32", 0xffff}}) {
          cases.push_back({"set." + middle + to.type + "." + pair, to.type + pairs,
                           [=](const u64* in) { return at(in, 0) * to.yes | at(in, 16) * to.yes << 16; }});
        }
      }
    }
  }
  for (const std::string t : {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"}) {
    const std::string o = t + " " + t + " " + t;
    cases.push_back({"selp." + t, o + " pred", [](const u64* in) { return in[2] ? in[0] : in[1]; }});
    cases.push_back({"slct." + t + ".s32", o + " s32", [](const u64* in) { return i32(in[2]) >= 0 ? in[0] : in[1]; }});
    for (const std::string z : {"", ".ftz"}) {
      cases.push_back({"slct" + z + "." + t + ".f32", o + " f32", [z](const u64* in) {
                         const float c = from_bits<float>(in[2]);
                         return (z.empty() ? c : without_subnormal(c)) >= 0 ? in[0] : in[1];
                       }});
    }
    cases.push_back({"mov." + t, t + " " + t, [](const u64* in) { return in[0]; }});
  }
  cases.push_back({"mov.pred", "pred pred", [](const u64* in) { return in[0]; }});
  return cases;
}

// cvt -----------------------------------------------------------------------------------------------------------------

struct Number {  // a type that cvt knows
  std::string name;
  int bits;
  char kind;  // u, s, f
};
inline std::vector<Number> numbers() {
  return {{"u8", 8, 'u'},   {"s8", 8, 's'},   {"u16", 16, 'u'}, {"s16", 16, 's'},  {"u32", 32, 'u'}, {"s32", 32, 's'},
          {"u64", 64, 'u'}, {"s64", 64, 's'}, {"f16", 16, 'f'}, {"bf16", 16, 'f'}, {"f32", 32, 'f'}, {"f64", 64, 'f'}};
}
inline wide least(const Number& n) { return n.kind == 's' ? -(wide{1} << (n.bits - 1)) : 0; }
inline wide most(const Number& n) { return (wide{1} << (n.bits - (n.kind == 's' ? 1 : 0))) - 1; }
inline wide integer(u64 bits, const Number& n) {
  const wide v = bits & mask(u32(n.bits));
  return n.kind == 's' && v > most(n) ? v - (wide{1} << n.bits) : v;
}
inline quad real(u64 bits, const Number& n, bool ftz) {
  if (n.name == "f64") return from_bits<double>(bits);
  if (n.name == "f32") return ftz ? without_subnormal(from_bits<float>(bits)) : from_bits<float>(bits);
  return value_of(u16(bits), n.name == "f16" ? kHalf : kBrain);
}
inline const Small& small_format(const Number& n) {
  static const Small single{8, 23, 127, true, kNan32};
  return n.name == "f16" ? kHalf : n.name == "bf16" ? kBrain : single;
}
// To an integer, if it is not one: nearest even, to zero, down, up.
inline quad integral(quad x, Round round) {
  if (x != x || x > power(70) || x < -power(70)) return x;
  const bool negative = x < 0 || __builtin_signbit(double(x));
  const quad magnitude = negative ? -x : x;
  wide whole = wide(magnitude);
  const quad rest = magnitude - quad(whole);
  if (round == Round::nearest) whole += rest > quad(0.5) || (rest == quad(0.5) && whole % 2 == 1);
  if (round == Round::up) whole += rest != 0 && !negative;
  if (round == Round::down) whole += rest != 0 && negative;
  return negative ? -quad(whole) : quad(whole);
}
// What is left of a NaN: as an H200 does, the manual leaves it open. A double's sign; all of it where the bits are
// moved.
inline u64 nan_bits(u64 a, const Number& to, const Number& from, bool moved) {
  if (moved) return from.bits == 16 ? a << 16 : a;
  if (from.name != "f64" || to.name == "f64") return to.name == "f64" ? kNan64 : small_format(to).nan;
  const u64 quiet = to.name == "f16" ? 0x7e00 : to.name == "bf16" ? 0x7fc0 : 0x7fc00000;
  return quiet | a >> 63 << (to.bits - 1);
}
// The bits of an exact value in a floating-point type.
inline u64 real_bits(quad x, const Number& n, Round round, bool satfinite = false) {
  if (n.name != "f64") return code_of(x, small_format(n), round, satfinite);
  if (x != x) return kNan64;
  const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(mode[int(round)]);
  volatile quad in = x;
  volatile double r = double(in);
  std::fesetround(FE_TONEAREST);
  return to_bits(double(r));
}
inline bool same_nan_or_bits_f64(u64 got, u64 want) { return same_f64(got, want); }

inline Cases convert_cases() {
  Cases cases;
  struct Named {
    std::string name;
    Round round;
  };
  const std::vector<Named> to_integer = {
      {".rni", Round::nearest}, {".rzi", Round::zero}, {".rmi", Round::down}, {".rpi", Round::up}};
  const std::vector<Named> to_real = {
      {".rn", Round::nearest}, {".rz", Round::zero}, {".rm", Round::down}, {".rp", Round::up}};
  const auto widths = [](const Number& n) {  // of the registers that may hold it
    std::vector<int> all;
    for (int bits : {8, 16, 32, 64}) {
      if (bits >= n.bits) all.push_back(bits);
    }
    return n.kind == 'f' ? std::vector<int>{n.bits} : all;
  };
  const auto operand = [](const Number& n, int bits) { return n.name + "@" + std::to_string(bits); };
  const auto add = [&](const std::string& modifiers, const Number& to, const Number& from, std::function<u64(u64)> f,
                       Same same = exact) {
    const bool brain = to.name == "bf16" || from.name == "bf16";  // whose registers are no wider, so bytes have bytes
    for (const int d : widths(to)) {
      for (const int a : widths(from)) {
        if (brain ? d != to.bits || a != from.bits : d == 8 || a == 8) continue;
        cases.push_back({"cvt" + modifiers + "." + to.name + "." + from.name, operand(to, d) + " " + operand(from, a),
                         [f, d](const u64* in) { return f(in[0]) & mask(u32(d)); }, same});
      }
    }
  };
  for (const Number& to : numbers()) {
    for (const Number& from : numbers()) {
      if (to.kind != 'f' && from.kind != 'f') {
        add("", to, from, [=](u64 a) { return u64(integer(u64(integer(a, from)), to)); });
        if (least(from) < least(to) || most(from) > most(to)) {
          add(".sat", to, from, [=](u64 a) { return u64(std::clamp(integer(a, from), least(to), most(to))); });
        }
      } else if (to.kind != 'f') {
        for (const Named& mode : to_integer) {
          for (const bool ftz : {false, true}) {
            for (const bool sat : {false, true}) {
              if ((ftz && from.name != "f32") || (sat && from.name == "bf16")) continue;
              add(mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from, [=](u64 a) {
                const quad x = integral(real(a, from, ftz), mode.round);
                if (x != x) {
                  const bool large = from.name == "f64" || to.bits == 64;
                  return large ? u64(integer(u64{1} << (to.bits - 1), to)) : 0;
                }
                if (x >= quad(most(to))) return u64(most(to));
                return x <= quad(least(to)) ? u64(least(to)) : u64(wide(x));
              });
            }
          }
        }
      } else if (from.kind != 'f') {
        for (const Named& mode : to_real) {
          for (const bool ftz : {false, true}) {
            for (const bool sat : {false, true}) {
              if ((ftz && to.name != "f32") || (sat && to.name == "bf16")) continue;
              add(mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from, [=](u64 a) {
                quad x = quad(integer(a, from));
                if (sat) x = x < 0 ? quad(0) : x > 1 ? quad(1) : x;
                return real_bits(x, to, mode.round);
              });
            }
          }
        }
      } else {
        const bool narrower = to.bits < from.bits || (to.bits == 16 && from.bits == 16 && to.name != from.name);
        const bool same_type = to.name == from.name;
        const bool moved = to.name == "f32" && (same_type || from.name == "bf16");
        std::vector<Named> all = {{"", Round::nearest}};
        // Between f16 and bf16 an assembler does without a rounding mode, which then is the nearest.
        if (narrower && to.bits < from.bits) all = to_real;
        if (narrower && to.bits == from.bits) all.insert(all.end(), to_real.begin(), to_real.end());
        if (same_type) all.insert(all.end(), to_integer.begin(), to_integer.end());
        // And takes one where bf16 becomes wider, which is exact.
        const bool wider_brain = from.name == "bf16" && to.bits > 16;
        if (wider_brain) all.insert(all.end(), to_real.begin(), to_real.end());
        for (const Named& mode : all) {
          for (const bool ftz : {false, true}) {
            for (const bool sat : {false, true}) {
              const bool single = to.name == "f32" || from.name == "f32";
              const bool brain = to.name == "bf16" || from.name == "bf16";
              if ((ftz && !single) || (sat && brain)) continue;
              add(
                  mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from,
                  [=](u64 a) {
                    // To f16, .ftz leaves the source alone, as an H200 shows where the result is rounded up or down.
                    quad x = real(a, from, ftz && to.name != "f16");
                    if (x != x && !sat)
                      return nan_bits(a, to, from, (mode.name.empty() || wider_brain) && moved && !ftz);
                    if (same_type && !mode.name.empty()) x = integral(x, mode.round);
                    if (sat) x = !(x > 0) ? quad(0) : x > 1 ? quad(1) : x;
                    const u64 r = real_bits(x, to, mode.round);
                    return ftz && to.name == "f32" ? to_bits(without_subnormal(from_bits<float>(r))) : r;
                  },
                  to.name == "f64" ? same_f64 : exact);
            }
          }
        }
      }
    }
  }
  // Forms with .relu and .satfinite; packed destinations.
  const auto clamp = [](float x, bool relu) { return relu && x <= 0 ? 0.0f : x; };
  for (const Named& mode : {to_real[0], to_real[1]}) {
    for (const bool relu : {false, true}) {
      for (const bool finite : {false, true}) {
        const std::string m = mode.name + (relu ? ".relu" : "") + (finite ? ".satfinite" : "");
        for (const std::string t : {"f16", "bf16"}) {
          const Small& format = t == "f16" ? kHalf : kBrain;
          const auto one = [=](u64 x) {
            return u64{code_of(clamp(from_bits<float>(x), relu), format, mode.round, finite)};
          };
          if (relu || finite)
            cases.push_back({"cvt" + m + "." + t + ".f32", t + " f32", [=](const u64* in) { return one(in[0]); }});
          cases.push_back({"cvt" + m + "." + t + "x2.f32", t + "x2 f32 f32",
                           [=](const u64* in) { return one(in[0]) << 16 | one(in[1]); }});
        }
        if (!finite) {
          cases.push_back({"cvt" + m + ".tf32.f32", "b32 f32", [=](const u64* in) -> u64 {
                             const float x = clamp(from_bits<float>(in[0]), relu);
                             return u64{code_of(x, kTf32, mode.round, false)} << 13;
                           }});
        }
      }
    }
  }
  for (const bool finite : {false, true}) {
    cases.push_back(
        {std::string("cvt.rna") + (finite ? ".satfinite" : "") + ".tf32.f32", "b32 f32", [=](const u64* in) -> u64 {
           const float x = from_bits<float>(in[0]);
           // A NaN loses its lowest bits and, with .satfinite, is lowered by one step, as infinity is: as an H200 does.
           if (is_nan(x)) return (in[0] & ~u64{0x1fff}) - (finite ? 0x2000 : 0);
           return u64{code_of(x, kTf32, Round::away, finite)} << 13;
         }});
  }
  for (const bool relu : {false, true}) {
    for (const std::string t : {"e4m3x2", "e5m2x2"}) {
      const Small& format = t == "e4m3x2" ? kE4m3 : kE5m2;
      const std::string r = relu ? ".relu" : "";
      const auto one = [=](quad x) { return u64{code_of(relu && x <= 0 ? quad(0) : x, format, Round::nearest, true)}; };
      cases.push_back({"cvt.rn.satfinite" + r + "." + t + ".f32", "b16 f32 f32", [=](const u64* in) {
                         return one(from_bits<float>(in[0])) << 8 | one(from_bits<float>(in[1]));
                       }});
      cases.push_back({"cvt.rn.satfinite" + r + "." + t + ".f16x2", "b16 f16x2", [=](const u64* in) {
                         return one(value_of(u16(in[0] >> 16), kHalf)) << 8 | one(value_of(u16(in[0]), kHalf));
                       }});
      cases.push_back({"cvt.rn" + r + ".f16x2." + t, "b32 b16", [=](const u64* in) {
                         const auto back = [=](u64 code) {
                           const quad x = value_of(u8(code), format);
                           return u64{code_of(relu && x <= 0 ? quad(0) : x, kHalf, Round::nearest, false)};
                         };
                         return back(in[0] >> 8) << 16 | back(in[0]);
                       }});
    }
  }
  for (const int bits : {2, 4, 8, 16}) {
    for (const char kind : {'u', 's'}) {
      const Number to{std::string(1, kind) + std::to_string(bits), bits, kind};
      const auto fit = [=](u64 x) { return u64(std::clamp(wide(i32(x)), least(to), most(to))) & mask(u32(bits)); };
      cases.push_back({"cvt.pack.sat." + to.name + ".s32" + (bits < 16 ? ".b32" : ""),
                       std::string("b32 s32 s32") + (bits < 16 ? " b32" : ""), [=](const u64* in) {
                         const u64 pair = fit(in[0]) << bits | fit(in[1]);
                         return (bits < 16 ? in[2] << 2 * bits | pair : pair) & mask(32);
                       }});
    }
  }
  return cases;
}

}  // namespace instructions
