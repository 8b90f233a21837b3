// Floating-point arithmetic. Single and double precision are defined by this processor's own IEEE 754 arithmetic in the
// rounding mode in question; the small formats by rounding exact values as the standard's definition says; the
// approximations by the error that the manual allows.
#pragma once
#include "tests/instructions/case.hpp"

#include <algorithm>
#include <cfenv>

namespace instructions {

// 113 bits: exact for every sum and product of halves that matters.
#if defined(__aarch64__)
using quad = long double;
#else
using quad = __float128;
#endif

constexpr u32 kNan32 = 0x7fffffff;
constexpr u64 kNan64 = 0xfff8000000000000;

struct Mode {
  const char* name;
  int rounding;
};
inline const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {
      {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};
  return all;
}

// f(…) in a rounding mode; the values go through memory, so that nothing is computed before or after.
template <class T, class F>
T rounded(int rounding, F f, T a, T b, T c) {
  volatile T in[] = {a, b, c};
  std::fesetround(rounding);
  volatile T result = f(in[0], in[1], in[2]);
  std::fesetround(FE_TONEAREST);
  return result;
}

inline bool is_nan(float x) { return x != x; }
inline bool is_nan(double x) { return x != x; }
inline float without_subnormal(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
inline double without_subnormal(double x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x; }

// The one NaN of single precision; of double precision the first operand that is one, made quiet.
inline float repaired(float r, float, float = 0, float = 0) { return is_nan(r) ? from_bits<float>(kNan32) : r; }
inline double repaired(double r, double a, double b = 0, double c = 0) {
  if (!is_nan(r)) return r;
  for (double x : {a, b, c}) {
    if (is_nan(x)) return from_bits<double>(to_bits(x) | u64{1} << 51);
  }
  return from_bits<double>(kNan64);
}

// Is one of the results that IEEE 754 allows where the manual leaves the NaN's payload open.
inline bool same_f64(u64 got, u64 want) {
  return got == want || (is_nan(from_bits<double>(got)) && is_nan(from_bits<double>(want)));
}

// Approximations: relative error, absolute error; infinities, zeros and NaNs must be those.
template <class T>
bool near(u64 got, u64 want, double relative, double absolute) {
  const T g = from_bits<T>(got), w = from_bits<T>(want);
  if (is_nan(g) || is_nan(w)) return sizeof(T) == 4 ? got == want : is_nan(g) && is_nan(w);
  if (std::isinf(g) || std::isinf(w) || w == 0) return g == w && std::signbit(g) == std::signbit(w);
  return std::fabs(double(g) - double(w)) <= relative * std::fabs(double(w)) + absolute;
}
template <int kBits>  // within 2^-kBits, or the smallest subnormal number
bool relative_f32(u64 got, u64 want) {
  return near<float>(got, want, std::ldexp(1.0, -kBits), 0x1p-149);
}
template <int kBits>
bool absolute_f32(u64 got, u64 want) {
  const float g = from_bits<float>(got), w = from_bits<float>(want);
  return is_nan(w) ? got == want : std::fabs(double(g) - double(w)) <= std::ldexp(1.0, -kBits);
}
template <int kBits>
bool relative_f64(u64 got, u64 want) {
  return near<double>(got, want, std::ldexp(1.0, -kBits), 0);
}

// The small formats ---------------------------------------------------------------------------------------------------

struct Small {
  int exponent_bits, mantissa_bits, bias;
  bool ieee;  // infinities and NaNs at the top exponent; else only all ones is a NaN
  u32 nan;
};
constexpr Small kHalf{5, 10, 15, true, 0x7fff}, kBrain{8, 7, 127, true, 0x7fff}, kE4m3{4, 3, 7, false, 0x7f},
    kE5m2{5, 2, 15, true, 0x7f}, kTf32{8, 10, 127, true, 0x3ffff};

inline quad power(int n) { return std::ldexp(1.0L, n); }
inline quad value_of(u32 code, const Small& f) {
  const int exponent = int(code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1));
  const u32 mantissa = code & ((1u << f.mantissa_bits) - 1);
  const bool negative = code >> (f.exponent_bits + f.mantissa_bits) & 1;
  const int top = (1 << f.exponent_bits) - 1;
  quad v;
  if (f.ieee && exponent == top)
    v = mantissa ? quad(NAN) : quad(INFINITY);
  else if (!f.ieee && exponent == top && mantissa == (1u << f.mantissa_bits) - 1)
    v = quad(NAN);
  else if (exponent == 0)
    v = mantissa * power(1 - f.bias - f.mantissa_bits);
  else
    v = (mantissa + (1u << f.mantissa_bits)) * power(exponent - f.bias - f.mantissa_bits);
  return negative ? -v : v;
}
enum class Round { nearest, zero, down, up, away };  // away: ties away from zero

// The code of x in a format, by the definition: the neighbours of x are multiples of the unit in its last place.
inline u32 code_of(quad x, const Small& f, Round round, bool satfinite) {
  if (x != x) return f.nan;
  const bool negative = __builtin_signbit(double(x)) || x < 0;
  const u32 sign = u32{negative} << (f.exponent_bits + f.mantissa_bits);
  const quad magnitude = x < 0 ? -x : x;
  const u32 all = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
  const u32 infinity = f.ieee ? ((1u << f.exponent_bits) - 1) << f.mantissa_bits : all;
  const u32 largest = infinity - 1;
  if (magnitude > power(200)) {
    const bool really = magnitude > power(16000);
    const bool down =
        !really && (round == Round::zero || (round == Round::down && !negative) || (round == Round::up && negative));
    return sign | (satfinite || down ? largest : infinity);
  }
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(double(magnitude), &exponent);
  exponent = std::max(exponent - 2, 1 - f.bias);  // too low, if anything: double() may have rounded
  while (magnitude >= power(exponent + 1)) ++exponent;
  const quad unit = power(exponent - f.mantissa_bits);
  const u64 below = u64(magnitude / unit);  // exact: unit is a power of two
  const quad rest = magnitude - below * unit;
  bool up = false;
  if (round == Round::nearest) up = rest * 2 > unit || (rest * 2 == unit && below % 2 == 1);
  if (round == Round::away) up = rest * 2 >= unit;
  if (round == Round::up) up = rest != 0 && !negative;
  if (round == Round::down) up = rest != 0 && negative;
  const u64 code = below + up + (u64(exponent + f.bias - 1) << f.mantissa_bits);
  if (code <= largest) return sign | u32(code);
  const bool outwards = round == (negative ? Round::down : Round::up);
  const bool to_infinity = !satfinite && (round == Round::nearest || round == Round::away || outwards);
  return sign | (to_infinity ? infinity : largest);
}

inline bool nan_code(u32 code, const Small& f) { return value_of(code, f) != value_of(code, f); }
inline u32 flushed_code(u32 code, const Small& f) {
  const u32 exponent = code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
  return exponent == 0 ? code & (1u << (f.exponent_bits + f.mantissa_bits)) : code;
}
enum class Clamp { none, sat, relu };
inline u32 clamped_code(u32 code, const Small& f, Clamp clamp) {
  const quad v = value_of(code, f);
  const u32 one = u32(f.bias) << f.mantissa_bits;
  if (clamp == Clamp::sat) return !(v > 0) ? 0 : v > 1 ? one : code;
  if (clamp == Clamp::relu && v == v && (v < 0 || v == 0)) return 0;
  return code;
}

// f on exact values of halves, for f16, bf16 and their pairs.
using OnExact = std::function<quad(quad, quad, quad)>;
inline u32 half_result(const OnExact& f, const Small& format, bool ftz, Clamp clamp, u32 a, u32 b, u32 c) {
  const auto in = [&](u32 x) { return value_of(ftz ? flushed_code(x, format) : x, format); };
  const quad exact = f(in(a), in(b), in(c));
  // As an H200 does, the manual leaves it open: too small is what would be so with any exponent, too.
  const quad least = power(1 - format.bias) - power(1 - format.bias - int(format.mantissa_bits) - 2);
  u32 r = code_of(exact, format, Round::nearest, false);
  if (ftz && exact > -least && exact < least) r &= 0x8000;
  return clamped_code(r, format, clamp);
}
// A function on codes of 16 bits, on one or on both halves of each operand.
template <class F>
Reference on_codes(bool pair, F f) {
  return [pair, f](const u64* in) -> u64 {
    const auto at = [&](int shift) {
      u32 x[3] = {};
      for (int k = 0; k < f.count; ++k) x[k] = u16(in[k] >> shift);
      return u64(u16(f.call(x[0], x[1], x[2])));
    };
    return pair ? at(0) | at(16) << 16 : at(0);
  };
}
struct Codes {
  int count;
  std::function<u32(u32, u32, u32)> call;
};

// a * b + c, exact except for an addend so far below the other that only its sign can matter: it is moved up, to where
// 113 bits still hold both.
inline quad exact_fma(quad a, quad b, quad c) {
  quad product = a * b;
  const auto size = [](quad x) { return x < 0 ? -x : x; };
  const auto trace = [&](quad large, quad small) {
    const quad least = size(large) * power(-60);
    return small != 0 && size(small) < least && size(large) < power(1000) ? (small < 0 ? -least : least) : small;
  };
  const quad addend = trace(product, c);
  product = trace(c, product);
  return product + addend;
}

inline std::string repeat(const std::string& type, int times) {
  std::string r = type;
  for (int k = 1; k < times; ++k) r += " " + type;
  return r;
}

inline Cases half_cases() {
  Cases cases;
  struct Operation {
    const char* name;
    int count;
    OnExact f;
    bool fma;
  };
  const Operation operations[] = {
      {"add", 2, [](quad a, quad b, quad) { return a + b; }, false},
      {"sub", 2, [](quad a, quad b, quad) { return a - b; }, false},
      {"mul", 2, [](quad a, quad b, quad) { return a * b; }, false},
      {"fma", 3, exact_fma, true},
  };
  for (const std::string type : {"f16", "f16x2", "bf16", "bf16x2"}) {
    const bool brain = type[0] == 'b', pair = type.back() == '2';
    const Small format = brain ? kBrain : kHalf;
    const auto add = [&](const std::string& form, int count, std::function<u32(u32, u32, u32)> f, Same same = exact) {
      cases.push_back({form + "." + type, repeat(type, count + 1), on_codes(pair, Codes{count, std::move(f)}), same});
    };
    for (const Clamp clamp : {Clamp::none, Clamp::relu}) {
      const auto outside = [](u32 x) { return (x & 0x7fff) == 0x7ff7; };
      add(clamp == Clamp::relu ? "fma.rn.oob.relu" : "fma.rn.oob", 3, [=](u32 a, u32 b, u32 c) {
        return outside(a) || outside(b) ? 0 : half_result(exact_fma, format, false, clamp, a, b, c);
      });
    }
    for (const Operation& o : operations) {
      for (const bool ftz : {false, true}) {
        for (const Clamp clamp : {Clamp::none, Clamp::sat, Clamp::relu}) {
          if (brain && (ftz || clamp == Clamp::sat)) continue;
          if (clamp == Clamp::relu && !o.fma) continue;
          for (const std::string rn : {"", ".rn"}) {
            if (o.fma && rn.empty()) continue;
            add(std::string(o.name) + rn + (ftz ? ".ftz" : "") +
                    (clamp == Clamp::sat    ? ".sat"
                     : clamp == Clamp::relu ? ".relu"
                                            : ""),
                o.count, [=](u32 a, u32 b, u32 c) { return half_result(o.f, format, ftz, clamp, a, b, c); });
          }
        }
      }
    }
    for (const bool ftz : {false, true}) {
      if (brain && ftz) continue;
      const std::string f = ftz ? ".ftz" : "";
      const auto in = [=](u32 x) { return ftz ? flushed_code(x, format) : x; };
      add("neg" + f, 1, [=](u32 a, u32, u32) { return nan_code(a, format) ? 0x7fff : in(a) ^ 0x8000; });
      add("abs" + f, 1, [=](u32 a, u32, u32) { return nan_code(a, format) ? 0x7fff : in(a) & 0x7fff; });
      for (const bool least : {true, false}) {
        for (const bool nan : {false, true}) {
          for (const bool sign : {false, true}) {
            add(std::string(least ? "min" : "max") + f + (nan ? ".NaN" : "") + (sign ? ".xorsign.abs" : ""), 2,
                [=](u32 a, u32 b, u32) -> u32 {
                  a = in(a), b = in(b);
                  const u32 product = (a ^ b) & 0x8000;
                  if (sign) a &= 0x7fff, b &= 0x7fff;
                  const bool a_nan = nan_code(a, format), b_nan = nan_code(b, format);
                  u32 r;
                  if (nan ? a_nan || b_nan : a_nan && b_nan) return 0x7fff;
                  if (a_nan || b_nan)
                    r = a_nan ? b : a;
                  else if (value_of(a, format) == value_of(b, format))
                    r = least ? a | b : a & b;  // zeros
                  else
                    r = (value_of(a, format) < value_of(b, format)) == least ? a : b;
                  return sign ? r | product : r;
                });
          }
        }
      }
    }
    // tanh: within 2^-10.987 (f16), 2^-8 (bf16) relative; ex2: within 2^-9.9 and 2^-7. In codes: one apart at most.
    const Same close = [](u64 got, u64 want) {
      for (int shift : {0, 16}) {
        const u32 g = u16(got >> shift), w = u16(want >> shift);
        if (g != w && (g + 1 != w && w + 1 != g)) return false;
      }
      return true;
    };
    const auto approximation = [&](const std::string& form, double (*f)(double), bool ftz) {
      add(
          form, 1,
          [=](u32 a, u32, u32) {
            const u32 x = ftz ? flushed_code(a, format) : a;
            const u32 r = code_of(f(double(value_of(x, format))), format, Round::nearest, false);
            return ftz ? flushed_code(r, format) : r;
          },
          close);
    };
    approximation("tanh.approx", [](double x) { return std::tanh(x); }, false);
    approximation(brain ? "ex2.approx.ftz" : "ex2.approx", [](double x) { return std::exp2(x); }, brain);
  }
  return cases;
}

template <class T>
T saturated(T x) {
  return !(x > 0) ? T{0} : x > 1 ? T{1} : x;
}

// Single and double precision: add_ieee() has all of them.
template <class T>
void add_arithmetic(Cases& cases, const std::string& type) {
  constexpr bool single = sizeof(T) == 4;
  struct Operation {
    const char* name;
    int count;
    T (*f)(T, T, T);
    bool needs_mode, saturates;
  };
  const Operation operations[] = {
      {"add", 2, [](T a, T b, T) { return a + b; }, false, single},
      {"sub", 2, [](T a, T b, T) { return a - b; }, false, single},
      {"mul", 2, [](T a, T b, T) { return a * b; }, false, single},
      {"fma", 3, [](T a, T b, T c) { return std::fma(a, b, c); }, true, single},
      {"mad", 3, [](T a, T b, T c) { return std::fma(a, b, c); }, true, single},
      {"div", 2, [](T a, T b, T) { return a / b; }, true, false},
      {"rcp", 1, [](T a, T, T) { return T{1} / a; }, true, false},
      {"sqrt", 1, [](T a, T, T) { return std::sqrt(a); }, true, false},
  };
  auto all = modes();
  all.push_back({"", FE_TONEAREST});
  for (const Operation& o : operations) {
    for (const Mode& mode : all) {
      if (o.needs_mode && !*mode.name) continue;
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) {
          if ((ftz && !single) || (sat && !o.saturates)) continue;
          const bool product = o.name[0] == 'm' || o.name[0] == 'f';  // mul, mad, fma
          const auto f = [=](T a, T b, T c) {
            if (ftz) a = without_subnormal(a), b = without_subnormal(b), c = without_subnormal(c);
            if (o.count < 3) c = 0;
            T r = repaired(rounded<T>(mode.rounding, o.f, a, b, c), a, o.count > 1 ? b : T{0}, c);
            if (ftz && product) {  // too small is what 24 bits, with any exponent, cannot bring up to 2^-126
              quad exact = exact_fma(a, b, c);
              if (exact < 0) exact = -exact;
              const quad missing = power(-126) - exact;
              if (mode.rounding == FE_TONEAREST ? missing > power(-151) : missing >= power(-150))
                r = std::copysign(T{0}, r);
            }
            if (ftz && o.name[0] == 'd' && std::fabs(double(a) / double(b)) < 0x1p-126) r = std::copysign(T{0}, r);
            if (ftz && o.name[0] == 'r' && std::fabs(1 / double(a)) < 0x1p-126) r = std::copysign(T{0}, r);
            if (sat) r = saturated(r);
            return ftz ? without_subnormal(r) : r;
          };
          const std::string form =
              std::string(o.name) + mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + "." + type;
          Reference reference = o.count == 1   ? on<T, T>([f](T a) { return f(a, 0, 0); })
                                : o.count == 2 ? on<T, T, T>([f](T a, T b) { return f(a, b, 0); })
                                               : on<T, T, T, T>(f);
          cases.push_back({form, repeat(type, o.count + 1), reference, single ? exact : same_f64});
        }
      }
    }
  }
}
template <class T>
void add_signs_and_extrema(Cases& cases, const std::string& type) {
  constexpr bool single = sizeof(T) == 4;
  for (const bool ftz : {false, true}) {
    if (ftz && !single) continue;
    const std::string z = ftz ? ".ftz." + type : "." + type;
    const auto in = [ftz](T x) { return ftz ? without_subnormal(x) : x; };
    const Same same = single ? exact : same_f64;
    // Which NaN comes of a NaN depends on what ptxas makes of it, an addition or a bit operation.
    const Same any_nan = [](u64 got, u64 want) {
      return got == want || (is_nan(from_bits<T>(got)) && is_nan(from_bits<T>(want)));
    };
    const Same sign_only = single && !ftz ? any_nan : same;
    cases.push_back({"neg" + z, repeat(type, 2), on<T, T>([=](T a) { return repaired(-in(a), a); }), sign_only});
    cases.push_back(
        {"abs" + z, repeat(type, 2), on<T, T>([=](T a) { return repaired(std::fabs(in(a)), a); }), sign_only});
    for (const bool least : {true, false}) {
      for (const bool nan : {false, true}) {
        for (const bool sign : {false, true}) {
          if (!single && (nan || sign)) continue;
          cases.push_back({std::string(least ? "min" : "max") + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                               (sign ? ".xorsign.abs." : ".") + type,
                           repeat(type, 3), on<T, T, T>([=](T a, T b) -> T {
                             a = in(a), b = in(b);
                             const bool negative = std::signbit(a) != std::signbit(b);
                             if (sign) a = std::fabs(a), b = std::fabs(b);
                             if (nan ? is_nan(a) || is_nan(b) : is_nan(a) && is_nan(b)) return repaired(T(NAN), a);
                             T r;
                             if (is_nan(a) || is_nan(b))
                               r = is_nan(a) ? b : a;
                             else if (a == 0 && b == 0)
                               r = std::signbit(a) == least ? a : b;
                             else
                               r = (a < b) == least ? a : b;
                             return sign && negative ? -r : r;
                           }),
                           same});
        }
      }
    }
  }
}
template <class T>
void add_ieee(Cases& cases, const std::string& type) {
  add_arithmetic<T>(cases, type);
  add_signs_and_extrema<T>(cases, type);
  cases.push_back({"copysign." + type, repeat(type, 3), on<T, T, T>([](T a, T b) { return std::copysign(b, a); })});
  const std::pair<const char*, bool (*)(T)> tests[] = {
      {"finite", [](T x) { return std::isfinite(x); }},
      {"infinite", [](T x) { return std::isinf(x); }},
      {"number", [](T x) { return !std::isnan(x); }},
      {"notanumber", [](T x) { return std::isnan(x); }},
      {"normal", [](T x) { return std::isnormal(x) || x == 0; }},
      {"subnormal", [](T x) { return std::fpclassify(x) == FP_SUBNORMAL; }}};
  for (const auto& [name, test] : tests) {
    cases.push_back(
        {std::string("testp.") + name + "." + type, "pred " + type, on<u8, T>([t = test](T a) { return t(a); })});
  }
}

inline Cases float_cases() {
  Cases cases;
  add_ieee<float>(cases, "f32");
  add_ieee<double>(cases, "f64");
  struct Approximation {
    const char* name;
    float (*f)(float);
    Same same;
    bool ftz_too;
  };
  const Approximation approximations[] = {
      {"rcp.approx", [](float a) { return 1 / a; }, relative_f32<22>, true},
      {"sqrt.approx", [](float a) { return std::sqrt(a); }, relative_f32<22>, true},
      {"rsqrt.approx", [](float a) { return float(1 / std::sqrt(double(a))); }, relative_f32<22>, true},
      {"lg2.approx", [](float a) { return float(std::log2(double(a))); },
       [](u64 got, u64 want) { return relative_f32<20>(got, want) || absolute_f32<22>(got, want); }, true},
      {"ex2.approx", [](float a) { return float(std::exp2(double(a))); }, relative_f32<21>, true},
      {"tanh.approx", [](float a) { return float(std::tanh(double(a))); }, relative_f32<10>, false},
  };
  for (const Approximation& x : approximations) {
    for (const bool ftz : {false, true}) {
      if (ftz && !x.ftz_too) continue;
      cases.push_back({std::string(x.name) + (ftz ? ".ftz.f32" : ".f32"), "f32 f32", on<float, float>([=](float a) {
                         if (ftz) a = without_subnormal(a);
                         const float r = repaired(x.f(a), a);
                         return ftz ? without_subnormal(r) : r;
                       }),
                       x.same});
    }
  }
  // Sine and cosine: the manual bounds the error for small arguments only, 2^-20.5; beyond them, not at all.
  for (const bool ftz : {false, true}) {
    const std::string z = ftz ? ".ftz.f32" : ".f32";
    const auto add = [&](const char* name, double (*f)(double)) {
      cases.push_back({name + z, "f32 f32", on<float, float>([=](float a) {
                         if (std::fabs(a) > 6.2f && !std::isinf(a)) return 2.0f;  // not judged
                         return repaired(float(f(ftz ? without_subnormal(a) : a)), a);
                       }),
                       [](u64 got, u64 want) { return want == to_bits(2.0f) || absolute_f32<20>(got, want); }});
    };
    add("sin.approx", [](double x) { return std::sin(x); });
    add("cos.approx", [](double x) { return std::cos(x); });
    const auto divide = [&](const char* name, bool approx) {
      cases.push_back({name + z, "f32 f32 f32", on<float, float, float>([=](float a, float b) {
                         if (ftz) a = without_subnormal(a), b = without_subnormal(b);
                         float r = a / b;
                         if (approx && std::fabs(b) > 0x1p126f && std::isfinite(b)) {
                           r = std::isinf(a) ? NAN : a * std::copysign(0.0f, b);
                         }
                         r = repaired(r, a);
                         return ftz ? without_subnormal(r) : r;
                       }),
                       relative_f32<21>});
    };
    divide("div.approx", true);
    divide("div.full", false);
  }
  cases.push_back(
      {"rsqrt.approx.f64", "f64 f64", on<double, double>([](double a) { return 1 / std::sqrt(a); }), relative_f64<45>});
  // The gross approximations: 20 bits, no subnormal numbers.
  const auto gross = [](double r) { return from_bits<double>(to_bits(without_subnormal(r)) & 0xffffffff00000000); };
  cases.push_back({"rcp.approx.ftz.f64", "f64 f64",
                   on<double, double>([=](double a) { return gross(1 / without_subnormal(a)); }), relative_f64<19>});
  cases.push_back({"rsqrt.approx.ftz.f64", "f64 f64",
                   on<double, double>([=](double a) { return gross(1 / std::sqrt(without_subnormal(a))); }),
                   relative_f64<19>});
  return cases;
}

}  // namespace instructions
