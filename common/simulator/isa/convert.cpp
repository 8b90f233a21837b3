// Conversion and data movement between registers. PTX ISA, "Data Movement and Conversion Instructions": cvt, cvt.pack,
// mov.
//
// cvt has thousands of combinations. Those that programs use most have a function each; the others go through three
// steps that each know one type only: load the lanes, convert, store them.
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/isa/conversions.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cudasim {
namespace {

using namespace conversions;

// What Instruction::control says of a conversion.
struct Conversion {
  Type to, from;
  u32 to_bytes, from_bytes;  // of the registers
  u32 mode;                  // Rounding or kTiesAway; for irnd the same, kExact: none
  bool ftz, sat, satfinite, relu;
};
constexpr u32 kExact = 7;

u32 packed(const Conversion& c) {
  return u32(c.to) | u32(c.from) << 6 | u32(std::countr_zero(c.to_bytes)) << 12 |
         u32(std::countr_zero(c.from_bytes)) << 14 | c.mode << 16 | u32{c.ftz} << 20 | u32{c.sat} << 21 |
         u32{c.satfinite} << 22 | u32{c.relu} << 23;
}
Conversion unpacked(u32 control) {
  const auto flag = [control](u32 at) { return (control >> at & 1) != 0; };
  return {Type(control & 63),
          Type(control >> 6 & 63),
          1u << (control >> 12 & 3),
          1u << (control >> 14 & 3),
          control >> 16 & 7,
          flag(20),
          flag(21),
          flag(22),
          flag(23)};
}
Conversion conversion(const Form& form) {
  const auto any = [&form](std::string_view a, std::string_view b) { return form.has(a) || form.has(b); };
  const u32 mode = any("rn", "rni")   ? u32{kNearest}
                   : any("rz", "rzi") ? u32{kZero}
                   : any("rm", "rmi") ? u32{kDown}
                   : any("rp", "rpi") ? u32{kUp}
                   : form.has("rna")  ? kTiesAway
                                      : kExact;
  return {form.type[0],
          form.type[1],
          std::max<u32>(form.width[0], 1),
          std::max<u32>(form.width[1], 1),
          mode,
          form.has("ftz"),
          form.has("sat"),
          form.has("satfinite"),
          form.has("relu")};
}

// pick(R{}) for a register's size.
template <class Pick>
auto for_bytes(u32 bytes, Pick pick) {
  switch (bytes) {
    case 1: return pick(u8{});
    case 2: return pick(u16{});
    case 4: return pick(u32{});
    default: return pick(u64{});
  }
}

// Integer to integer --------------------------------------------------------------------------------------------------

template <class From, bool kFromSigned, class To, bool kToSigned, bool kSat>
void run_integers(Warp& warp, const Instruction& i) {
  if constexpr (!kSat)
    described<run_integers<From, kFromSigned, To, kToSigned, kSat>, Extends<From, kFromSigned, To, kToSigned>>();
  const Conversion c = unpacked(i.control);
  const u32 from = bits(c.from), to = bits(c.to);
  unary<To, From>(warp, i, [=](From a) { return Extend<From, kFromSigned, To, kToSigned, kSat>::of(a, from, to); });
}
template <class From, bool kFromSigned, class To>
Handler integers_handler(bool to_signed, bool sat) {
  if (sat)
    return to_signed ? run_integers<From, kFromSigned, To, true, true>
                     : run_integers<From, kFromSigned, To, false, true>;
  return to_signed ? run_integers<From, kFromSigned, To, true, false>
                   : run_integers<From, kFromSigned, To, false, false>;
}
Bound bind_integers(const Form& form) {
  const Conversion c = conversion(form);
  const bool to_signed = is_signed(c.to), from_signed = is_signed(c.from);
  // .sat where nothing can lie outside is refused.
  const bool fits = from_signed == to_signed ? bits(c.to) >= bits(c.from) : to_signed && bits(c.to) > bits(c.from);
  if (c.sat && fits) return nullptr;
  const Handler run = for_bytes(c.from_bytes, [&](auto from) {
    return for_bytes(c.to_bytes, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      return from_signed ? integers_handler<From, true, To>(to_signed, c.sat)
                         : integers_handler<From, false, To>(to_signed, c.sat);
    });
  });
  return {run, packed(c)};
}

// The three steps -----------------------------------------------------------------------------------------------------

// The lanes' values. Lanes that do not execute hold anything.
template <class T>
using Lanes = T[kWarpSize];

template <class R, class T, class F>
void load_each(const Warp& warp, Slot slot, Lanes<T>& out, F f) {
  const R* a = warp.in<R>(slot);
  for (u32 lane = 0; lane < kWarpSize; ++lane) out[lane] = f(a[lane]);
}
// Every floating-point source is exact as double. A NaN stays one.
void load_float(const Warp& warp, Slot slot, const Conversion& c, Lanes<double>& out) {
  for_bytes(c.from_bytes, [&](auto zero) {
    using R = decltype(zero);
    switch (c.from) {
      case Type::f16: return load_each<R>(warp, slot, out, [&](R a) { return from_f16(u16(a)); });
      case Type::bf16: return load_each<R>(warp, slot, out, [&](R a) { return from_bf16(u16(a)); });
      case Type::f32:
        // To f16, .ftz leaves the source alone (as an H200 does: it shows if the result is rounded up or down).
        if (c.ftz && c.to != Type::f16)
          return load_each<R>(warp, slot, out, [](R a) { return flush(float_of(u32(a))); });
        return load_each<R>(warp, slot, out, [](R a) { return float_of(u32(a)); });
      default: return load_each<R>(warp, slot, out, [](R a) { return double_of(u64(a)); });
    }
  });
}
// Integers, extended to 64 bits.
void load_integer(const Warp& warp, Slot slot, const Conversion& c, Lanes<u64>& out) {
  const u32 shift = 64 - bits(c.from);
  const bool sign = is_signed(c.from);
  for_bytes(c.from_bytes, [&](auto zero) {
    using R = decltype(zero);
    if (sign) return load_each<R>(warp, slot, out, [=](R a) { return u64(i64(u64(a) << shift) >> shift); });
    return load_each<R>(warp, slot, out, [=](R a) { return u64(a) << shift >> shift; });
  });
}
void store(Warp& warp, Slot slot, u32 bytes, const Lanes<u64>& values) {
  for_bytes(bytes, [&](auto zero) {
    using R = decltype(zero);
    R* d = warp.out<R>(slot);
    for_lanes(warp.mask, [&](u32 lane) { d[lane] = R(values[lane]); });
  });
}

void round_all(Lanes<double>& x, u32 mode) {
  const auto each = [&x](auto f) {
    for (double& value : x) value = f(value);
  };
  switch (mode) {
    case kNearest: return each([](double v) { return std::nearbyint(v); });
    case kZero: return each([](double v) { return std::trunc(v); });
    case kDown: return each([](double v) { return std::floor(v); });
    case kUp: return each([](double v) { return std::ceil(v); });
    default: return;
  }
}

// Floating point to integer: out of range is the nearest there is; NaN is 0, or the highest bit alone where 64 bits
// are involved.
void run_float_to_integer(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  Lanes<double> x;
  load_float(warp, i.slot[1], c, x);
  round_all(x, c.mode);
  const u32 width = bits(c.to);
  const u64 top = u64{1} << (width - 1);
  const u64 nan = c.from == Type::f64 || width == 64 ? (is_signed(c.to) ? ~(top - 1) : top) : 0;
  Lanes<u64> d;
  if (is_signed(c.to)) {
    const double above = std::ldexp(1.0, i32(width) - 1);
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      const double v = x[lane];
      const u64 inside = v >= above ? top - 1 : v < -above ? ~(top - 1) : u64(i64(v != v ? 0 : v));
      d[lane] = v != v ? nan : inside;
    }
  } else {
    const double above = std::ldexp(1.0, i32(width));
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      const double v = x[lane];
      d[lane] = v != v ? nan : v >= above ? top | (top - 1) : v <= 0 ? 0 : u64(v);
    }
  }
  store(warp, i.slot[0], c.to_bytes, d);
}

// The encodings of a floating-point destination's values, from exact ones.
const Format& format(Type type) {
  switch (type) {
    case Type::bf16:
    case Type::bf16x2: return kBf16;
    case Type::tf32: return kTf32;
    case Type::e4m3x2: return kE4m3;
    case Type::e5m2x2: return kE5m2;
    default: return kF16;
  }
}
// What an H200 makes of NaNs, which the manual leaves open: from double precision, the sign and the upper bits stay and
// the NaN becomes quiet …
u32 narrowed_nan(double x, const Format& to) {
  const u64 bits = bits_of(x) | u64{1} << 51;
  const u32 top = ((1u << to.exponent_bits) - 1) << to.mantissa_bits;
  const u32 mantissa = u32(bits >> (52 - to.mantissa_bits)) & ((1u << to.mantissa_bits) - 1);
  return u32(bits >> 63) << (to.exponent_bits + to.mantissa_bits) | top | mantissa;
}
u32 encode_one(double x, const Conversion& c) {
  if (c.relu && x <= 0) x = 0;  // no -0 either
  if (c.sat) x = saturate(x);
  if (x != x && c.from == Type::f64) return narrowed_nan(x, format(c.to));
  return encode(x, format(c.to), c.mode == kExact ? u32{kNearest} : c.mode, c.satfinite);
}
void encode_all(const Lanes<double>& x, const Conversion& c, Lanes<u64>& d) {
  switch (c.to) {
    case Type::f64:
      for (u32 lane = 0; lane < kWarpSize; ++lane) {
        double r = c.sat ? saturate(x[lane]) : x[lane];
        if (c.ftz && r != r) r = float_of(kNan32);  // flushing leaves that one
        d[lane] = bits_of(r);
      }
      return;
    case Type::f32: {
      const RoundingScope scope(c.mode == kExact ? u32{kNearest} : c.mode);
      volatile u32 here = kWarpSize;  // keeps the conversions within the scope
      for (u32 lane = 0; lane < here; ++lane) {
        float r = float(x[lane]);
        if (c.from != Type::f64) r = canonical(r);  // of double precision, the sign and the upper bits stay
        if (c.sat) r = saturate(r);
        if (c.ftz) r = flush(r);
        d[lane] = bits_of(r);
      }
      return;
    }
    case Type::tf32:
      for (u32 lane = 0; lane < kWarpSize; ++lane) d[lane] = encode_one(x[lane], c) << 13;
      return;
    default:
      for (u32 lane = 0; lane < kWarpSize; ++lane) d[lane] = encode_one(x[lane], c);
  }
}
void run_float_to_float(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  Lanes<double> x;
  load_float(warp, i.slot[1], c, x);
  if (c.to == c.from) round_all(x, c.mode);
  Lanes<u64> d;
  encode_all(x, c, d);
  store(warp, i.slot[0], c.to_bytes, d);
}

// 64 bits do not always fit a double: what is lost leaves a trace in the lowest bit, so that the next rounding is
// right.
double sticky_double(u64 magnitude) {
  if (magnitude >> 53 == 0) return double(magnitude);
  return double((magnitude & ~u64{0xfff}) | u64{(magnitude & 0xfff) != 0} << 11);
}
void run_integer_to_float(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  Lanes<u64> a, d;
  load_integer(warp, i.slot[1], c, a);
  const bool sign = is_signed(c.from);
  if (c.to == Type::f32 || c.to == Type::f64) {
    const RoundingScope scope(c.mode);
    volatile u32 here = kWarpSize;
    for (u32 lane = 0; lane < here; ++lane) {
      if (c.to == Type::f32) {
        const float r = sign ? float(i64(a[lane])) : float(a[lane]);
        d[lane] = bits_of(c.sat ? saturate(r) : r);
      } else {
        const bool fits = a[lane] >> 63 == 0;  // while it rounds down, clang++ makes -0 of an unsigned zero
        const double r = sign || fits ? double(i64(a[lane])) : double(a[lane]);
        d[lane] = bits_of(c.sat ? saturate(r) : r);
      }
    }
  } else {
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      const bool negative = sign && i64(a[lane]) < 0;
      const double magnitude = sticky_double(negative ? u64{0} - a[lane] : a[lane]);
      d[lane] = encode_one(negative ? -magnitude : magnitude, c);
    }
  }
  store(warp, i.slot[0], c.to_bytes, d);
}

// Common conversions, when the registers are as wide as the types ---------------------------------------------------

// For a mode that is known to the compiler.
template <class Pick>
Handler for_mode(u32 mode, Pick pick) {
  switch (mode) {
    case kNearest: return pick(std::integral_constant<u32, kNearest>{});
    case kZero: return pick(std::integral_constant<u32, kZero>{});
    case kDown: return pick(std::integral_constant<u32, kDown>{});
    case kUp: return pick(std::integral_constant<u32, kUp>{});
    default: return nullptr;
  }
}
template <class F, u32 kMode, bool kFtz>
Handler from_float(const Conversion& c) {
  if (c.to == c.from) return run1<ToWhole<kMode, kFtz>, F, F>;
  switch (c.to) {
    case Type::s32: return run1<ToInteger<i32, kMode, kFtz>, i32, F>;
    case Type::u32: return run1<ToInteger<u32, kMode, kFtz>, u32, F>;
    case Type::s64: return run1<ToInteger<i64, kMode, kFtz>, i64, F>;
    case Type::u64: return run1<ToInteger<u64, kMode, kFtz>, u64, F>;
    default: return nullptr;
  }
}
// To an integer, or to a whole number.
Handler rounding_conversion(const Conversion& c) {
  return for_mode(c.mode, [&](auto mode) -> Handler {
    constexpr u32 kMode = decltype(mode)::value;
    if (c.from == Type::f64) return from_float<double, kMode, false>(c);
    if (c.from == Type::f32) return c.ftz ? from_float<float, kMode, true>(c) : from_float<float, kMode, false>(c);
    return nullptr;
  });
}
template <class To>
Handler from_integer(const Conversion& c) {
  const bool wide = c.from_bytes == 4;  // a small integer in a register of 32 bits
  switch (c.from) {
    case Type::s8: return wide ? run1<FromInteger<i8, To>, To, u32> : run1<FromInteger<i8, To>, To, u16>;
    case Type::u8: return wide ? run1<FromInteger<u8, To>, To, u32> : run1<FromInteger<u8, To>, To, u16>;
    case Type::s16: return wide ? run1<FromInteger<i16, To>, To, u32> : run1<FromInteger<i16, To>, To, u16>;
    case Type::u16: return wide ? run1<FromInteger<u16, To>, To, u32> : run1<FromInteger<u16, To>, To, u16>;
    case Type::s32: return run1<FromInteger<i32, To>, To, i32>;
    case Type::u32: return run1<FromInteger<u32, To>, To, u32>;
    case Type::s64: return run1<FromInteger<i64, To>, To, i64>;
    case Type::u64: return run1<FromInteger<u64, To>, To, u64>;
    default: return nullptr;
  }
}
Handler common_conversion(const Conversion& c) {
  const auto is = [&c](Type to, Type from) { return c.to == to && c.from == from; };
  if (c.satfinite || c.relu || c.to_bytes != bytes(c.to)) return nullptr;
  const bool small = bits(c.from) < 32 && !is_float(c.from) && (c.from_bytes == 2 || c.from_bytes == 4);
  if (!small && c.from_bytes != bytes(c.from)) return nullptr;
  if (is(Type::f32, Type::f32) && c.mode == kExact && c.sat && !c.ftz) return run1<Saturated, float, float>;
  if (c.sat) return nullptr;
  if (is_float(c.from) && (c.to == c.from || !is_float(c.to))) return rounding_conversion(c);
  if (is(Type::f64, Type::f32) && c.mode == kExact)
    return c.ftz ? run1<FlushedF32ToF64, double, float> : run1<F32ToF64, double, float>;
  if (is(Type::f32, Type::f64) && c.mode == kNearest)
    return c.ftz ? run1<FlushedF64ToF32, float, double> : run1<F64ToF32, float, double>;
  if (c.ftz) return nullptr;
  if (is(Type::f32, Type::f16) && c.mode == kExact) return run1<F16ToF32, float, u16>;
  if (c.mode != kNearest) return nullptr;
  if (is(Type::f16, Type::f32)) return run1<F32ToF16, u16, float>;
  if (is(Type::bf16, Type::f32)) return run1<F32ToBf16, u16, float>;
  if (is(Type::f16, Type::s32)) return run1<S32ToF16, u16, i32>;
  if (is_float(c.from)) return nullptr;
  return c.to == Type::f32 ? from_integer<float>(c) : c.to == Type::f64 ? from_integer<double>(c) : nullptr;
}

// cvt.f32.f32 without modifiers and cvt.f32.bf16, whatever its rounding, move bits, a NaN's too.
void run_moved_bits(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  const u32 shift = 32 - bits(c.from);
  Lanes<u64> a;
  load_integer(warp, i.slot[1], c, a);
  for (u64& value : a) value = u32(value << shift);
  store(warp, i.slot[0], c.to_bytes, a);
}

Bound bind_convert(const Form& form) {
  const Conversion c = conversion(form);
  const bool moves = c.to == Type::f32 && ((c.from == Type::f32 && c.mode == kExact) || c.from == Type::bf16);
  if (moves && !c.ftz && !c.sat) return {run_moved_bits, packed(c)};
  if (const Handler common = common_conversion(c)) return common;
  const Handler run = !is_float(c.to)     ? run_float_to_integer
                      : !is_float(c.from) ? run_integer_to_float
                                          : run_float_to_float;
  return {run, packed(c)};
}

// Packed destinations -------------------------------------------------------------------------------------------------

// Two single-precision values: a goes to the upper half, b to the lower one.
void run_pack_floats(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  const u32 width = bits(c.to) / 2;
  const float* a = warp.in<float>(i.slot[1]);
  const float* b = warp.in<float>(i.slot[2]);
  Lanes<u64> d;
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    d[lane] = u64{encode_one(a[lane], c)} << width | encode_one(b[lane], c);
  }
  store(warp, i.slot[0], c.to_bytes, d);
}
Bound bind_pack_floats(const Form& form) {
  const Conversion c = conversion(form);
  if (c.mode == kNearest && !c.relu && !c.satfinite) {
    if (c.to == Type::f16x2) return run2<PackedNearest<F32ToF16>, u32, float, float>;
    if (c.to == Type::bf16x2) return run2<PackedNearest<F32ToBf16>, u32, float, float>;
  }
  return {run_pack_floats, packed(c)};
}
// f16x2 to a pair of 8 bits, and back.
void run_f16x2_to_f8x2(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  unary<u16, u32>(warp, i, [&c](u32 a) {
    return u16(encode_one(from_f16(half<u16>(a, 1)), c) << 8 | encode_one(from_f16(half<u16>(a, 0)), c));
  });
}
void run_f8x2_to_f16x2(Warp& warp, const Instruction& i) {
  const Conversion c = unpacked(i.control);
  const Format& from = format(c.from);
  unary<u32, u16>(warp, i, [&](u16 a) {
    return halves(encode_one(decode(a & 0xff, from), c), encode_one(decode(a >> 8, from), c));
  });
}
template <Handler kRun>
Bound bind_pair(const Form& form) {
  return {kRun, packed(conversion(form))};
}

// cvt.pack: a and b saturated to a small integer type, b lowest, then a, then what c has. Control: bits, and 64 if
// signed.
void run_pack_integers(Warp& warp, const Instruction& i) {
  const u32 width = i.control & 31;
  const bool sign = i.control & 64;
  const i32 low = sign ? -(1 << (width - 1)) : 0, high = (1 << (sign ? width - 1 : width)) - 1;
  const u32 mask = (1u << width) - 1;
  const auto fit = [=](i32 x) { return u32(std::clamp(x, low, high)) & mask; };
  if (i.slot[3] == kNoSlot) {
    binary<u32, i32, i32>(warp, i, [=](i32 a, i32 b) { return fit(a) << width | fit(b); });
  } else {
    ternary<u32, i32, i32, u32>(warp, i,
                                [=](i32 a, i32 b, u32 c) { return c << 2 * width | fit(a) << width | fit(b); });
  }
}
Bound bind_pack_integers(const Form& form) {
  return {run_pack_integers, bits(form.type[0]) | (is_signed(form.type[0]) ? 64u : 0)};
}

// Ties away from zero, by adding half a step to the bits; a NaN, which the manual leaves open, only loses its lowest
// bits, and .satfinite takes the step down from where infinity and NaNs begin: as an H200 does.
template <bool kSatfinite>
struct RnaTf32 {
  static u32 of(u32 x) {
    const bool nan = (x & 0x7fff'ffffu) > 0x7f80'0000u;
    const u32 r = (nan ? x : x + 0x1000u) & ~0x1fffu;
    return kSatfinite && (r & 0x7f80'0000u) == 0x7f80'0000u ? r - 0x2000u : r;
  }
};
template <bool kSatfinite>
Bound bind_rna(const Form&) {
  return run1<RnaTf32<kSatfinite>, u32, u32>;
}

// mov -----------------------------------------------------------------------------------------------------------------

struct Word128 {
  u64 low, high;
};
void run_mov_predicate(Warp& warp, const Instruction& i) {
  described<run_mov_predicate, Combines<conversions::Copy>>();
  warp.set_predicate(i.slot[0], warp.predicate(i.slot[1]));
}
Bound bind_mov(const Form& form) {
  if (form.type[0] == Type::pred) return run_mov_predicate;
  if (form.type[0] == Type::b128) return run1<Copy, Word128, Word128>;
  return for_size(form.type[0], [](auto zero) -> Bound { return run1<Copy, decltype(zero), decltype(zero)>; });
}

constexpr Row kRows[] = {
    {"mov.pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "=t0 t0", bind_mov, 0, 0,
     kTakesSpecial | kTakesAddress | kMovesBits | counts_as(Class::move)},
    {"mov.b128", "=t0 t0", bind_mov, 83, 70, kTakesSpecial | kTakesAddress | kMovesBits | counts_as(Class::move)},

    {"cvt{.sat}.integer.integer", "=t0~ t1~", bind_integers, 0, 0, kTakesSpecial | kMovesBits},
    {"cvt.irnd{.ftz}{.sat}.integer.f32", "=t0~ t1~", bind_convert},
    {"cvt.irnd{.sat}.integer.f16|f64", "=t0~ t1~", bind_convert},
    {"cvt.irnd.integer.bf16", "=t0 t1", bind_convert, 78, 90},
    {"cvt.rnd{.ftz}{.sat}.f32.integer", "=t0~ t1~", bind_convert},
    {"cvt.rnd{.sat}.f16|f64.integer", "=t0~ t1~", bind_convert},
    {"cvt.rnd.bf16.integer", "=t0 t1", bind_convert, 78, 90},
    {"cvt{.irnd}{.ftz}{.sat}.f32.f32", "=t0~ t1~", bind_convert},
    {"cvt{.irnd}{.sat}.f16.f16", "=t0~ t1~", bind_convert},
    {"cvt{.irnd}{.sat}.f64.f64", "=t0~ t1~", bind_convert},
    {"cvt{.irnd}.bf16.bf16", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt{.ftz}{.sat}.f32.f16", "=t0~ t1~", bind_convert},
    {"cvt{.ftz}.f32.bf16", "=t0~ t1~", bind_convert, 71, 80},
    // Nothing is to be rounded here; ptxas takes the modifier all the same.
    {"cvt.rnd.f32.bf16", "=t0~ t1~", bind_convert, 71, 80},
    {"cvt.rnd.ftz.f32.bf16", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt.rnd{.ftz}{.sat}.f32.f64", "=t0~ t1~", bind_convert},
    {"cvt{.ftz}{.sat}.f64.f32", "=t0~ t1~", bind_convert},
    {"cvt{.sat}.f64.f16", "=t0~ t1~", bind_convert},
    {"cvt{.rnd}.f64.bf16", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt.rnd{.ftz}{.sat}.f16.f32", "=t0~ t1~", bind_convert},
    {"cvt.rnd{.sat}.f16.f64", "=t0~ t1~", bind_convert},
    {"cvt{.rnd}.f16.bf16", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt.rn|rz.bf16.f32", "=t0~ t1~", bind_convert, 70, 80},
    {"cvt.rm|rp.bf16.f32", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt.rnd.ftz.bf16.f32", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt{.rnd}.bf16.f16", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt.rnd.bf16.f64", "=t0~ t1~", bind_convert, 78, 90},
    {"cvt.rn|rz.relu.f16|bf16.f32", "=t0~ t1~", bind_convert, 70, 80},
    {"cvt.rn|rz{.relu}.satfinite.f16|bf16.f32", "=t0~ t1~", bind_convert, 81, 80},
    {"cvt.rna.tf32.f32", "=b32 f32", bind_rna<false>, 70, 80},
    {"cvt.rna.satfinite.tf32.f32", "=b32 f32", bind_rna<true>, 81, 80},
    {"cvt.rn|rz{.relu}.tf32.f32", "=b32 f32", bind_convert, 78, 90},
    {"cvt.rn|rz.satfinite{.relu}.tf32.f32", "=b32 f32", nullptr, 86, 100},

    {"cvt.rn|rz{.relu}.f16x2|bf16x2.f32", "=t0 f32 f32", bind_pack_floats, 70, 80},
    {"cvt.rn|rz{.relu}.satfinite.f16x2|bf16x2.f32", "=t0 f32 f32", bind_pack_floats, 81, 80},
    {"cvt.rn.satfinite{.relu}.e4m3x2|e5m2x2.f32", "=b16 f32 f32", bind_pack_floats, 78, 89, kFirstOn90},
    {"cvt.rn.satfinite{.relu}.e4m3x2|e5m2x2.f16x2", "=b16 b32", bind_pair<run_f16x2_to_f8x2>, 78, 89, kFirstOn90},
    {"cvt.rn{.relu}.f16x2.e4m3x2|e5m2x2", "=b32 b16", bind_pair<run_f8x2_to_f16x2>, 78, 89, kFirstOn90},
    {"cvt.rs{.relu}{.satfinite}.f16x2|bf16x2.f32", "=t0 f32 f32 b32", nullptr, 87, 100},
    {"cvt.rn.satfinite{.relu}.e2m1x2.f32", "=b8 f32 f32", nullptr, 86, 100},
    {"cvt.rn{.relu}.f16x2.e2m1x2", "=b32 b8", nullptr, 86, 100},
    {"cvt.rn.satfinite{.relu}.e2m3x2|e3m2x2.f32", "=b16 f32 f32", nullptr, 86, 100},
    {"cvt.rn{.relu}.f16x2.e2m3x2|e3m2x2", "=b32 b16", nullptr, 86, 100},
    {"cvt.rz|rp{.satfinite}.ue8m0x2.f32", "=b16 f32 f32", nullptr, 86, 100},
    {"cvt.rz|rp{.satfinite}.ue8m0x2.bf16x2", "=b16 b32", nullptr, 86, 100},
    {"cvt.rn.bf16x2.ue8m0x2", "=b32 b16", nullptr, 86, 100},
    {"cvt.pack.sat.u16|s16.s32", "=b32 s32 s32", bind_pack_integers, 65, 72},
    {"cvt.pack.sat.u8|s8.s32.b32", "=b32 s32 s32 b32", bind_pack_integers, 65, 72},
    {"cvt.pack.sat.u4|s4|u2|s2.s32.b32", "=b32 s32 s32 b32", bind_pack_integers, 65, 75},
};

}  // namespace

std::span<const Row> convert_rows() { return kRows; }

}  // namespace cudasim
