// Encodes and decodes the small floating-point formats.
#include "common/simulator/isa/floats.hpp"

#include <cmath>

namespace cudasim {
namespace {

struct Limits {
  u32 largest;   // code of the largest finite number
  u32 infinity;  // code of infinity, or of what stands for it
  u32 nan;
};

Limits limits(const Format& f) {
  const u32 top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  const u32 all = top | ((1u << f.mantissa_bits) - 1);
  if (f.infinity) return {top - 1, top, all};
  return f.nan_all_ones ? Limits{all - 1, all, all} : Limits{all, all, all};
}

// Should a value with this fraction (of one unit in the last place, in 64 bits) go to the next code?
bool rounds_up(u64 fraction, bool odd, bool negative, u32 mode) {
  constexpr u64 kHalf = u64{1} << 63;
  switch (mode) {
    case kZero: return false;
    case kDown: return negative && fraction != 0;
    case kUp: return !negative && fraction != 0;
    case kTiesAway: return fraction >= kHalf;
    default: return fraction > kHalf || (fraction == kHalf && odd);
  }
}

}  // namespace

u32 encode(double x, const Format& f, u32 mode, bool satfinite) {
  const Limits limit = limits(f);
  if (x != x) return limit.nan;
  const bool negative = std::signbit(x);
  const u32 sign = u32{negative} << (f.exponent_bits + f.mantissa_bits);
  if (std::isinf(x)) return sign | (satfinite ? limit.largest : limit.infinity);
  if (x == 0) return sign;
  int exponent;
  const double fraction = std::frexp(std::fabs(x), &exponent);  // [0.5, 1)
  const u64 mantissa = u64(std::ldexp(fraction, 64));           // the leading bit is bit 63
  // The unit in the last place of the result is 2^(scale - mantissa_bits); subnormals share the lowest scale.
  const i32 lowest = 1 - f.bias;
  const i32 scale = exponent - 1 < lowest ? lowest : exponent - 1;
  const u32 drop = u32(63 - i32(f.mantissa_bits) + scale - (exponent - 1));
  u64 kept, rest;
  if (drop < 64) {
    kept = mantissa >> drop;
    rest = mantissa << (64 - drop);
  } else {
    kept = 0;
    rest = drop == 64 ? mantissa : drop < 128 ? (mantissa >> (drop - 64)) | 1 : 1;
  }
  kept += rounds_up(rest, kept & 1, negative, mode);
  // A carry out of the mantissa moves on to the next exponent by itself.
  const u64 code = kept + (u64(u32(scale + f.bias - 1)) << f.mantissa_bits);
  if (code <= limit.largest) return sign | u32(code);
  const bool to_infinity =
      !satfinite && (mode == kNearest || mode == kTiesAway || mode == (negative ? u32{kDown} : u32{kUp}));
  return sign | (to_infinity ? limit.infinity : limit.largest);
}

double decode(u32 code, const Format& f) {
  const Limits limit = limits(f);
  const u32 magnitude = code & ((1u << (f.exponent_bits + f.mantissa_bits)) - 1);
  const double sign = code >> (f.exponent_bits + f.mantissa_bits) & 1 ? -1 : 1;
  if (magnitude > limit.largest) return f.infinity && magnitude == limit.infinity ? sign * HUGE_VAL : NAN;
  const u32 exponent = magnitude >> f.mantissa_bits;
  const u32 mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const u32 whole = exponent == 0 ? mantissa : mantissa | 1u << f.mantissa_bits;
  return sign * std::ldexp(double(whole), i32(exponent == 0 ? 1 : exponent) - f.bias - i32(f.mantissa_bits));
}

}  // namespace cudasim
