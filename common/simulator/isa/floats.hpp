// Floating-point formats bit by bit: NaNs, flushing, rounding, and the small formats' encodings. PTX ISA,
// "Floating-Point Instructions" and "Alternate Floating-Point Data Formats".
#pragma once
#include "common/simulator/isa/functions.hpp"
#include "common/simulator/types.hpp"

#include <bit>
#include <cfenv>

namespace cudasim {

// The NaN that a single-precision operation returns.
constexpr u32 kNan32 = 0x7fff'ffffu;
// The NaN that a double-precision operation returns if no operand was one.
constexpr u64 kNan64 = 0xfff8'0000'0000'0000u;
constexpr u16 kNan16 = 0x7fffu;  // f16 and bf16

inline u32 bits_of(float x) { return std::bit_cast<u32>(x); }
inline u64 bits_of(double x) { return std::bit_cast<u64>(x); }
inline float float_of(u32 x) { return std::bit_cast<float>(x); }
inline double double_of(u64 x) { return std::bit_cast<double>(x); }

// Without branches, so that loops over lanes become vector code.
template <class T>
inline T canonical(T r) {
  if constexpr (sizeof(T) == 4)
    return r != r ? float_of(kNan32) : r;
  else
    return r != r ? double_of(kNan64) : r;
}
inline float flush(float x) {
  return float_of((bits_of(x) & 0x7f80'0000u) == 0 ? bits_of(x) & 0x8000'0000u : bits_of(x));
}
inline double flush(double x) {
  return double_of((bits_of(x) & 0x7ff0'0000'0000'0000u) == 0 ? bits_of(x) & (u64{1} << 63) : bits_of(x));
}
// To [0, 1]; NaN and -0 become +0.
template <class T>
inline T saturate(T x) {
  return x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
}

inline float quiet(float) { return float_of(kNan32); }
inline double quiet(double x) { return double_of(bits_of(x) | (u64{1} << 51)); }
// Repairs a result that is a NaN: single precision knows one NaN only, double precision keeps the first operand's.
template <class T, class... Rest>
inline T with_nan(T r, T first, Rest... rest) {
  if constexpr (sizeof(T) == 4) {
    return canonical(r);
  } else if constexpr (sizeof...(rest) == 0) {
    return r != r ? (first != first ? quiet(first) : canonical(r)) : r;
  } else {
    return r != r && first != first ? quiet(first) : with_nan(r, rest...);
  }
}

// PTX's rounding modes, as handlers find them in Instruction::control.
enum Rounding : u32 { kNearest, kZero, kDown, kUp };

// The processor rounds this way while the scope lasts. Only operations on values loaded within the scope, and stored
// within it, are sure to happen there.
class RoundingScope {
 public:
  explicit RoundingScope(u32 mode) : mode_(mode) {
    if (mode_ != kNearest) set(mode_);
  }
  ~RoundingScope() {
    if (mode_ != kNearest) set(kNearest);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static void set(u32 mode) {
#if defined(__x86_64__)  // fesetround() would set the rounding of the x87 unit as well
    constexpr u32 kBits[] = {0, 0x6000, 0x2000, 0x4000};
    u32 control;
    asm volatile("stmxcsr %0" : "=m"(control) : : "memory");
    control = (control & ~0x6000u) | kBits[mode];
    asm volatile("ldmxcsr %0" : : "m"(control) : "memory");
#else
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[mode]);
#endif
  }
  u32 mode_;
};

// Round to odd: what a value that is rounded twice has to go through in between, so that the second rounding is right.
inline float odd_float(double exact) {
  const float near = static_cast<float>(exact);
  const double back = near;
  const u32 bits = bits_of(near);
  const bool inexact = back != exact && exact == exact && (bits & 1) == 0;
  const bool away = (back < exact) == (exact > 0);  // the exact value lies farther from zero
  return float_of(inexact ? (away ? bits + 1 : bits - 1) : bits);
}
// x + y, rounded to odd.
inline double odd_sum(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  const u64 bits = bits_of(sum);
  const bool inexact = error != 0 && error == error && (bits & 1) == 0;
  const bool away = (error > 0) == (sum > 0);
  return double_of(inexact ? (away ? bits + 1 : bits - 1) : bits);
}

inline float from_f16(u16 h) {
  const u32 magnitude = u32(h & 0x7fffu) << 13;
  const float finite = float_of(magnitude) * float_of(0x7780'0000u);  // 2^112, exact: subnormals become normal
  const u32 bits = magnitude >= 0x0f80'0000u ? magnitude | 0x7f80'0000u : bits_of(finite);
  return float_of(bits | u32(h & 0x8000u) << 16);
}
// Nearest, ties to even.
inline u16 to_f16(float x) {
  const u32 sign = bits_of(x) >> 16 & 0x8000u;
  const u32 magnitude = bits_of(x) & 0x7fff'ffffu;
  const u32 large = magnitude > 0x7f80'0000u ? kNan16 : 0x7c00u;
  const u32 tiny = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);  // the addition rounds
  const u32 normal = (magnitude - 0x3800'0000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  const u32 result = magnitude >= 0x4780'0000u ? large : magnitude < 0x3880'0000u ? tiny : normal;
  return u16(magnitude > 0x7f80'0000u ? result : result | sign);
}
inline float from_bf16(u16 h) { return float_of(u32{h} << 16); }
inline u16 to_bf16(float x) {
  const u32 bits = bits_of(x);
  return u16(x != x ? kNan16 : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

// A format smaller than single precision.
struct Format {
  u32 exponent_bits, mantissa_bits;
  i32 bias;
  bool infinity;      // the highest exponent is for infinity and NaNs, as in IEEE 754
  bool nan_all_ones;  // the only NaN is all ones (e4m3)
};
inline constexpr Format kF16{5, 10, 15, true, false};
inline constexpr Format kBf16{8, 7, 127, true, false};
inline constexpr Format kTf32{8, 10, 127, true, false};
inline constexpr Format kE4m3{4, 3, 7, false, true};
inline constexpr Format kE5m2{5, 2, 15, true, false};

constexpr u32 kTiesAway = 4;  // beside Rounding: .rna

// `x` in `format`, sign included, rounded as `mode` says. Beyond the largest finite number: infinity (or that number,
// if the mode rounds towards zero or `satfinite` is given); NaN: the format's canonical one. Exact for every double.
u32 encode(double x, const Format& format, u32 mode, bool satfinite);
double decode(u32 code, const Format& format);

}  // namespace cudasim
