// What the single- and double-precision instructions compute, lane by lane. PTX ISA, "Floating-Point Instructions".
// Handlers (float.cpp) and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/isa/floats.hpp"

#include <type_traits>

namespace cudasim::floats {

// Which NaN comes out of several is what an H200 was found to do: the last operand's; of fma the second's, then the
// third's, then the first's.
struct Add {
  template <class T>
  static T of(T a, T b) {
    return with_nan(a + b, b, a);
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return with_nan(a - b, b, a);
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return with_nan(a * b, b, a);
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    return with_nan(a / b, a, b);
  }
};
struct DivApprox {  // a * (1 / b), so that nothing is left of a when 1 / b is subnormal
  static float of(float a, float b) {
    const bool huge = math::fabs(b) > 0x1p126f && math::fabs(b) <= 0x1.fffffep127f;
    return canonical(huge ? a * math::copysign(0.0f, b) : a / b);
  }
};
struct Fma {
  static float of(float a, float b, float c) { return with_nan(__builtin_fmaf(a, b, c), b, c, a); }
  static double of(double a, double b, double c) { return with_nan(__builtin_fma(a, b, c), b, c, a); }
};
struct Rcp {
  template <class T>
  static T of(T a) {
    return with_nan(T{1} / a, a);
  }
};
struct Sqrt {
  static float of(float a) { return with_nan(__builtin_sqrtf(a), a); }
  static double of(double a) { return with_nan(__builtin_sqrt(a), a); }
};

// The approximations are exact where an H200's are: at zeros, infinities, powers of two and quarters of a turn.
// Elsewhere they are within the manual's bounds, and so is the H200.
inline float toward_zero(double x) {
  const float near = float(x);
  return math::fabs(double(near)) > math::fabs(x) ? float_of(bits_of(near) - 1) : near;
}
inline bool is_power_of_two(float a) {
  const u32 bits = bits_of(a < 0x1p-126f ? a * 0x1p24f : a);
  return (bits & 0x007f'ffffu) == 0 && a > 0 && a <= 0x1.fffffep127f;
}

struct Rsqrt {
  static float of(float a) {
    const float r = canonical(float(1.0 / __builtin_sqrt(double(a))));
    const bool odd_power = (bits_of(r) & 0x007f'ffffu) == 0x0035'04f3u && is_power_of_two(a);
    return odd_power ? float_of(bits_of(r) - 1) : r;
  }
  static double of(double a) { return with_nan(double(1.0L / math::sqrt(static_cast<long double>(a))), a); }
};
// The gross approximations of double precision read and write the upper word only; their NaN is single precision's.
constexpr u64 kUpper = 0xffff'ffff'0000'0000u;
inline double upper(double x) { return double_of((x != x ? u64{kNan32} << 32 : bits_of(x)) & kUpper); }
inline double of_upper(double x) { return flush(double_of(bits_of(x) & kUpper)); }
struct RcpGross {
  static double of(double a) { return upper(flush(1.0 / of_upper(a))); }
};
struct RsqrtGross {
  static double of(double a) { return upper(1.0 / __builtin_sqrt(of_upper(a))); }
};
// The angle in full circles, as a truncated float in units of 2^-25. So small angles have no sine, and
// of large ones no more is left than the float has.
struct Turns {
  explicit Turns(float a) {
    constexpr double kPerRadian = 0.15915493667125701904296875;  // 1 / (2 pi) as a float
    const double turns = math::fabs(double(toward_zero(double(a) * kPerRadian)));
    const double cut = turns < 0x1p28 ? math::floor(turns * 0x1p25) * 0x1p-25 : turns;
    part = u32((cut - math::floor(cut)) * 0x1p25);
  }
  double sine(u32 ahead) const {
    constexpr double kTau = 6.283185307179586;
    const u32 at = (part + ahead) & 0x1ff'ffffu;
    const u32 quarter = at >> 23, rest = at & 0x7f'ffffu;
    const double angle = kTau * 0x1p-25 * rest;
    const double magnitude = rest == 0 ? quarter & 1 : quarter & 1 ? math::cos(angle) : math::sin(angle);
    return quarter >= 2 ? -magnitude : magnitude;
  }
  u32 part = 0;
};
struct Sin {
  static float of(float a) {
    if (!(math::fabs(a) <= 0x1.fffffep127f)) return float_of(kNan32);
    const float r = float(Turns(a).sine(0));
    return math::signbit(a) ? -r : r;
  }
};
struct Cos {
  static float of(float a) {
    if (!(math::fabs(a) <= 0x1.fffffep127f)) return float_of(kNan32);
    return float(Turns(a).sine(1u << 23));
  }
};
struct Lg2 {
  // Cut off; whole numbers below zero are reached from above only.
  static float of(float a) {
    if (a > 0 && a < 0x1p-126f) return of(a * 0x1p24f) - 24.0f;
    if (!(a > 0 && a <= 0x1.fffffep127f)) return canonical(math::log2(a));
    return toward_zero(math::log2(double(a)) + (is_power_of_two(a) && a < 1 ? 0x1p-23 : 0));
  }
};
// An H200 computes a subnormal result as a square. Where a negative argument is half an odd number, its result is one
// bit too small. Without branches and calls, so that loops over lanes become vector code.
struct Ex2 {
  static float of(float a) {
    const bool small = a < -126;
    float x = small ? a / 2 : a;
    x = x < -140 ? -140 : x > 200 ? 200 : x;  // its power is not 0: the last step would make that a NaN
    constexpr double kShift = 0x1.8p52, kLn2 = 0.6931471805599453;
    const double shifted = double(x) + kShift;  // its lowest bits are the nearest whole number
    const double rest = double(x) - (shifted - kShift), y = rest * kLn2;
    double power = 1.0 / 362880;  // the exponential series
    power = power * y + 1.0 / 40320;
    power = power * y + 1.0 / 5040;
    power = power * y + 1.0 / 720;
    power = power * y + 1.0 / 120;
    power = power * y + 1.0 / 24;
    power = power * y + 1.0 / 6;
    power = power * y + 1.0 / 2;
    power = power * y + 1;
    power = power * y + 1;
    const float near = canonical(float(power * double_of((bits_of(shifted) + 1023) << 52)));
    const float r = float_of(bits_of(near) - u32((x < 0) & (math::fabs(rest) == 0.5)));
    return small ? r * r : r;
  }
};
struct Tanh {
  static float of(float a) {
    if (math::fabs(a) >= 8) return math::copysign(1.0f, a);
    return math::fabs(a) <= 0x1p-8f ? a : canonical(math::tanh(a));
  }
};

// A double-precision NaN becomes quiet in negation and absolute value, and keeps its sign; of one in single precision
// the canonical one is left. (The manual leaves it open. ptxas makes an addition of it, but where it finds a bit
// operation as good.)
struct Neg {
  static float of(float a) { return canonical(-a); }
  static double of(double a) { return a != a ? quiet(a) : -a; }
};
struct Abs {
  static float of(float a) { return canonical(math::fabs(a)); }
  static double of(double a) { return a != a ? quiet(a) : math::fabs(a); }
};

// -0 is less than +0; a NaN loses against a number, unless kNan.
template <bool kLess, bool kNan>
struct Extreme {
  template <class T>
  static T of(T a, T b) {
    // Without branches, so that loops over lanes become vector code.
    const bool take_a = kLess ? a < b : a > b, a_is_nan = a != a, b_is_nan = b != b;
    const auto both = kLess ? bits_of(a) | bits_of(b) : bits_of(a) & bits_of(b);
    const T either = take_a | b_is_nan ? a : b, sum = with_nan(a + b, b, a);
    const T number = a == b ? std::bit_cast<T>(both) : either;
    const bool nan = kNan ? a_is_nan | b_is_nan : a_is_nan & b_is_nan;
    return nan ? sum : number;
  }
};
template <class Op>
struct XorSign {  // Op on the magnitudes; the sign is that of the product
  static float of(float a, float b) {
    const float r = Op::of(math::fabs(a), math::fabs(b));
    return r != r ? r : float_of(bits_of(r) | ((bits_of(a) ^ bits_of(b)) & 0x8000'0000u));
  }
};
struct CopySign {  // the sign of a, the rest of b
  template <class T>
  static T of(T a, T b) {
    return math::copysign(b, a);
  }
};

template <bool kFtz>
inline float in(float x) {
  return kFtz ? flush(x) : x;
}
template <bool kFtz>
inline double in(double x) {
  return x;
}
template <bool kFtz, bool kSat, class T>
inline T out(T x) {
  if constexpr (kSat) x = saturate(x);
  if constexpr (kFtz && sizeof(T) == 4) x = flush(x);
  return x;
}

// Of Op, with .ftz: a result is too small if it would be with any number of exponent bits, so one that only the coarser
// steps below the normal numbers bring up to the smallest of them is flushed. The manual leaves it open; an H200
// decides so.
template <class Op, bool kFtz>
inline float lowered(float r, float a, float b, float c, u32 mode) {
  if constexpr (kFtz && (std::is_same_v<Op, Mul> || std::is_same_v<Op, Fma>)) {
    const double rest = double(a) * b + (double(c) - r);  // exact - r: right if r is that number
    const double missing = r > 0 ? -rest : rest;
    const bool raised = math::fabs(r) == 0x1p-126f && (mode == kNearest ? missing > 0x1p-151 : missing >= 0x1p-150);
    return raised ? math::copysign(0.0f, r) : r;
  } else if constexpr (kFtz && (std::is_same_v<Op, Div> || std::is_same_v<Op, Rcp>)) {  // never so near to that number
    const double exact = std::is_same_v<Op, Rcp> ? 1.0 / double(a) : double(a) / b;
    return math::fabs(r) == 0x1p-126f && math::fabs(exact) < 0x1p-126 ? math::copysign(0.0f, r) : r;
  } else {
    return r;
  }
}
template <class Op, bool kFtz>
inline double lowered(double r, double, double, double, u32) {
  return r;
}

// Op with its modifiers. kKey: 1 .ftz, 2 .sat, 4 another rounding mode than to nearest, which the caller has set.
template <class Op, u32 kKey>
struct Modified {
  static constexpr bool kFtz = kKey & 1, kSat = kKey & 2;
  template <class T>
  static T rounded(u32 mode, T a) {
    a = in<kFtz>(a);
    return out<kFtz, kSat>(lowered<Op, kFtz>(Op::of(a), a, T{0}, T{0}, mode));
  }
  template <class T>
  static T rounded(u32 mode, T a, T b) {
    a = in<kFtz>(a), b = in<kFtz>(b);
    return out<kFtz, kSat>(lowered<Op, kFtz>(Op::of(a, b), a, b, T{0}, mode));
  }
  template <class T>
  static T rounded(u32 mode, T a, T b, T c) {
    a = in<kFtz>(a), b = in<kFtz>(b), c = in<kFtz>(c);
    return out<kFtz, kSat>(lowered<Op, kFtz>(Op::of(a, b, c), a, b, c, mode));
  }
  template <class T, class... Rest>
  static T of(T a, Rest... rest) {
    return rounded(kNearest, a, rest...);
  }
};

}  // namespace cudasim::floats
