// Floating-point arithmetic: single, double and half precision. PTX ISA, "Floating-Point Instructions" and
// "Half Precision Floating-Point Instructions".
#include "common/simulator/isa/float_operations.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace cudasim {
namespace {

u32 rounding(const Form& form) {
  return form.has("rz") ? kZero : form.has("rm") ? kDown : form.has("rp") ? kUp : kNearest;
}

// Single and double precision ----------------------------------------------------------------------------------------

using namespace floats;

// Op with its modifiers for one, two or three operands.
template <class Op, class T, u32 kArguments, u32 kKey>
void run_float(Warp& warp, const Instruction& i) {
  using Whole = Modified<Op, kKey>;
  const u32 mode = kKey & 4 ? i.control : u32{kNearest};
  const RoundingScope scope(mode);
  if constexpr (kArguments == 1) {
    if constexpr (kKey < 4) described<run_float<Op, T, kArguments, kKey>, Computes<Whole, T, T>>();
    unary<T, T>(warp, i, [=](T a) { return Whole::rounded(mode, a); });
  } else if constexpr (kArguments == 2) {
    if constexpr (kKey < 4) described<run_float<Op, T, kArguments, kKey>, Computes<Whole, T, T, T>>();
    binary<T, T, T>(warp, i, [=](T a, T b) { return Whole::rounded(mode, a, b); });
  } else {
    if constexpr (kKey < 4) described<run_float<Op, T, kArguments, kKey>, Computes<Whole, T, T, T, T>>();
    ternary<T, T, T, T>(warp, i, [=](T a, T b, T c) { return Whole::rounded(mode, a, b, c); });
  }
}

// With all modifiers that the row's syntax lets through: kKeys is the mask of those that it may.
template <class Op, class T, u32 kArguments, u32 kKeys>
Bound bind_float(const Form& form) {
  static constexpr auto kTable = []<std::size_t... kKey>(std::index_sequence<kKey...>) {
    return std::array<Handler, 8>{run_float<Op, T, kArguments, kKey & kKeys>...};
  }(std::make_index_sequence<8>{});
  const u32 mode = rounding(form);
  const u32 key = u32{form.has("ftz")} | u32{form.has("sat")} << 1 | u32{mode != kNearest} << 2;
  return {kTable[key], mode};
}
constexpr u32 kFtz = 1, kFtzRnd = 5, kFtzSatRnd = 7, kRnd = 4, kPlain = 0;

template <bool kLess>
Bound bind_extreme(const Form& form) {
  if (form.has("xorsign")) {
    return form.has("NaN") ? bind_float<XorSign<Extreme<kLess, true>>, float, 2, kFtz>(form)
                           : bind_float<XorSign<Extreme<kLess, false>>, float, 2, kFtz>(form);
  }
  return form.has("NaN") ? bind_float<Extreme<kLess, true>, float, 2, kFtz>(form)
                         : bind_float<Extreme<kLess, false>, float, 2, kFtz>(form);
}
Bound bind_copysign(const Form& form) {
  return form.type[0] == Type::f64 ? run2<CopySign, double, double, double> : run2<CopySign, float, float, float>;
}

// testp ---------------------------------------------------------------------------------------------------------------

enum class Test : u32 { finite, infinite, number, notanumber, normal, subnormal };
constexpr std::string_view kTests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};

template <class T>
bool holds(Test test, T x) {
  switch (test) {
    case Test::finite: return std::isfinite(x);
    case Test::infinite: return std::isinf(x);
    case Test::number: return x == x;
    case Test::notanumber: return x != x;
    case Test::normal: return std::isnormal(x) || x == 0;
    case Test::subnormal: return std::fpclassify(x) == FP_SUBNORMAL;
  }
  return false;
}
template <class T>
void run_testp(Warp& warp, const Instruction& i) {
  const T* a = warp.in<T>(i.slot[1]);
  u32 result = 0;
  for (const u32 lane : set_bits(warp.mask)) {
    result |= u32{holds(Test{i.control}, a[lane])} << lane;
  }
  warp.set_predicate(i.slot[0], result);
}
Bound bind_testp(const Form& form) {
  u32 test = 0;
  while (!form.has(kTests[test])) ++test;
  return {form.type[0] == Type::f64 ? run_testp<double> : run_testp<float>, test};
}

// Half precision ------------------------------------------------------------------------------------------------------

// Both 16-bit formats are computed in single precision. An operation returns what store() rounds correctly: the exact
// result, or the result rounded to odd.
struct F16 {
  static float load(u16 h) { return from_f16(h); }
  static u16 store(float x) { return to_f16(x); }
  static constexpr u16 kExponent = 0x7c00;
  static constexpr float kLeast = 0x1p-14f - 0x1p-26f;  // that is rounded to a normal number, with any exponent
  static constexpr u16 kOne = 0x3c00;
  static float product(float a, float b) { return a * b; }  // 22 bits: exact
  static float cut(float x) {
    const bool normal = std::fabs(x) >= 0x1p-14f;
    return x != x || !normal ? std::trunc(x * 0x1p24f) * 0x1p-24f : float_of(bits_of(x) & 0xffff'e000u);
  }
};
struct Bf16 {
  static float load(u16 h) { return from_bf16(h); }
  static u16 store(float x) { return to_bf16(x); }
  static constexpr u16 kExponent = 0x7f80;
  static constexpr float kLeast = 0x1p-126f - 0x1p-135f;
  [[maybe_unused]] static constexpr u16 kOne = 0x3f80;
  static float product(float a, float b) { return odd_float(double(a) * b); }  // exact except for subnormals
  static float cut(float x) { return x != x ? x : float_of(bits_of(x) & 0xffff'0000u); }
};

struct HalfAdd {  // single precision has more than twice the digits, so that the second rounding does no harm
  template <class F>
  static float of(float a, float b) {
    return a + b;
  }
};
struct HalfSub {
  template <class F>
  static float of(float a, float b) {
    return a - b;
  }
};
struct HalfMul {
  template <class F>
  static float of(float a, float b) {
    return F::product(a, b);
  }
};
struct HalfFma {
  template <class F>
  static float of(float a, float b, float c) {
    return odd_float(odd_sum(double(a) * b, c));
  }
};
struct HalfTanh {  // cut off, not rounded, as on an H200
  template <class F>
  static float of(float a) {
    return F::cut(Tanh::of(a));
  }
};
struct HalfEx2 {
  template <class F>
  static float of(float a) {
    return F::cut(::exp2f(a));
  }
};

template <class F>
inline u16 flush_half(u16 h) {
  return (h & F::kExponent) == 0 ? h & 0x8000u : h;
}

enum : u32 { kHalfPlain, kHalfSat, kHalfRelu };

// One half: flushed (kFlush), computed, rounded, clamped.
template <class Op, class F, bool kFlush, u32 kClamp>
struct Half {
  static u16 finish(float x) {
    u16 h = F::store(x);
    if constexpr (kFlush) h = std::fabs(x) < F::kLeast ? h & 0x8000u : h;  // see lowered()
    if constexpr (kClamp == kHalfSat) h = (h & 0x8000u) || (h & 0x7fffu) > F::kExponent ? 0 : h < F::kOne ? h : F::kOne;
    if constexpr (kClamp == kHalfRelu) h = h & 0x8000u ? 0 : h;
    return h;
  }
  static float load(u16 h) { return F::load(kFlush ? flush_half<F>(h) : h); }
  static u16 of(u16 a) { return finish(Op::template of<F>(load(a))); }
  static u16 of(u16 a, u16 b) { return finish(Op::template of<F>(load(a), load(b))); }
  static u16 of(u16 a, u16 b, u16 c) { return finish(Op::template of<F>(load(a), load(b), load(c))); }
};

// Runs Op on u16, or on both halves of a u32, by the form's type.
template <class Op, u32 kArguments>
Bound half_or_pair(const Form& form) {
  const bool pair = bits(form.type[0]) == 32;
  if constexpr (kArguments == 1) return pair ? run1<Paired<Op, u16>, u32, u32> : run1<Op, u16, u16>;
  if constexpr (kArguments == 2) return pair ? run2<Paired<Op, u16>, u32, u32, u32> : run2<Op, u16, u16, u16>;
  if constexpr (kArguments == 3) return pair ? run3<Paired<Op, u16>, u32, u32, u32, u32> : run3<Op, u16, u16, u16, u16>;
}
// .oob: zero, whatever is added, if a factor is the NaN that tensor copies write beyond a tensor's bounds (found on an
// H200; the manual does not say which it is).
constexpr u16 kOutOfBounds = 0x7ff7;
template <class Op>
struct HalfOob {
  static u16 of(u16 a, u16 b, u16 c) {
    return (a & 0x7fffu) == kOutOfBounds || (b & 0x7fffu) == kOutOfBounds ? u16{0} : Op::of(a, b, c);
  }
};
Bound bind_half_oob(const Form& form) {
  const bool bf = form.type[0] == Type::bf16 || form.type[0] == Type::bf16x2, relu = form.has("relu");
  if (bf && relu) return half_or_pair<HalfOob<Half<HalfFma, Bf16, false, kHalfRelu>>, 3>(form);
  if (bf) return half_or_pair<HalfOob<Half<HalfFma, Bf16, false, kHalfPlain>>, 3>(form);
  if (relu) return half_or_pair<HalfOob<Half<HalfFma, F16, false, kHalfRelu>>, 3>(form);
  return half_or_pair<HalfOob<Half<HalfFma, F16, false, kHalfPlain>>, 3>(form);
}
template <class Op, u32 kArguments>
Bound bind_half(const Form& form) {
  const bool bf = form.type[0] == Type::bf16 || form.type[0] == Type::bf16x2;
  const bool ftz = form.has("ftz"), sat = form.has("sat"), relu = form.has("relu");
  if (bf) {
    if (relu) return half_or_pair<Half<Op, Bf16, false, kHalfRelu>, kArguments>(form);
    return half_or_pair<Half<Op, Bf16, false, kHalfPlain>, kArguments>(form);
  }
  if (ftz) {
    if (sat) return half_or_pair<Half<Op, F16, true, kHalfSat>, kArguments>(form);
    if (relu) return half_or_pair<Half<Op, F16, true, kHalfRelu>, kArguments>(form);
    return half_or_pair<Half<Op, F16, true, kHalfPlain>, kArguments>(form);
  }
  if (sat) return half_or_pair<Half<Op, F16, false, kHalfSat>, kArguments>(form);
  if (relu) return half_or_pair<Half<Op, F16, false, kHalfRelu>, kArguments>(form);
  return half_or_pair<Half<Op, F16, false, kHalfPlain>, kArguments>(form);
}
// ex2.approx.ftz.bf16: subnormal results are flushed, the result of a subnormal operand is one either way.
Bound bind_half_ex2(const Form& form) {
  const bool bf = form.type[0] == Type::bf16 || form.type[0] == Type::bf16x2;
  if (bf) return half_or_pair<Half<HalfEx2, Bf16, true, kHalfPlain>, 1>(form);
  return half_or_pair<Half<HalfEx2, F16, false, kHalfPlain>, 1>(form);
}

// Signs and comparisons work on the encodings: integers, once negative numbers are turned around.
template <class F>
inline bool is_nan_half(u16 h) {
  return (h & 0x7fffu) > F::kExponent;
}
template <class F, bool kFlush, bool kNegate>
struct HalfSign {
  static u16 of(u16 a) {
    if (is_nan_half<F>(a)) return kNan16;
    if (kFlush) a = flush_half<F>(a);
    return kNegate ? a ^ 0x8000u : a & 0x7fffu;
  }
};
inline i32 half_order(u16 h) { return h & 0x8000u ? -1 - i32(h & 0x7fffu) : i32(h); }  // -0 is below +0
template <class F, bool kFlush, bool kLess, bool kNan, bool kXorSign>
struct HalfExtreme {
  static u16 of(u16 a, u16 b) {
    const u16 sign = (a ^ b) & 0x8000u;
    if (kFlush) a = flush_half<F>(a), b = flush_half<F>(b);
    if (kXorSign) a &= 0x7fffu, b &= 0x7fffu;
    const bool nan_a = is_nan_half<F>(a), nan_b = is_nan_half<F>(b);
    if (kNan ? nan_a || nan_b : nan_a && nan_b) return kNan16;
    const bool take_a = nan_b || (!nan_a && (kLess ? half_order(a) <= half_order(b) : half_order(a) >= half_order(b)));
    const u16 r = take_a ? a : b;
    return kXorSign ? r | sign : r;
  }
};

template <class F, bool kFlush, bool kLess, bool kNan>
Bound bind_half_extreme4(const Form& form) {
  return form.has("xorsign") ? half_or_pair<HalfExtreme<F, kFlush, kLess, kNan, true>, 2>(form)
                             : half_or_pair<HalfExtreme<F, kFlush, kLess, kNan, false>, 2>(form);
}
template <class F, bool kFlush, bool kLess>
Bound bind_half_extreme3(const Form& form) {
  return form.has("NaN") ? bind_half_extreme4<F, kFlush, kLess, true>(form)
                         : bind_half_extreme4<F, kFlush, kLess, false>(form);
}
template <bool kLess>
Bound bind_half_extreme(const Form& form) {
  if (form.type[0] == Type::bf16 || form.type[0] == Type::bf16x2) return bind_half_extreme3<Bf16, false, kLess>(form);
  return form.has("ftz") ? bind_half_extreme3<F16, true, kLess>(form) : bind_half_extreme3<F16, false, kLess>(form);
}
template <bool kNegate>
Bound bind_half_sign(const Form& form) {
  if (form.type[0] == Type::bf16 || form.type[0] == Type::bf16x2) {
    return half_or_pair<HalfSign<Bf16, false, kNegate>, 1>(form);
  }
  return form.has("ftz") ? half_or_pair<HalfSign<F16, true, kNegate>, 1>(form)
                         : half_or_pair<HalfSign<F16, false, kNegate>, 1>(form);
}

// A row without a bind function: only targets beyond what is simulated have it; the loader refuses it by its target.
constexpr Row kRows[] = {
    {"testp.finite|infinite|number|notanumber|normal|subnormal.f32|f64", "=pred t0", bind_testp, 0, 0,
     counts_as(Class::compare)},
    {"copysign.f32|f64", "=t0 t0 t0", bind_copysign},

    {"add{.rnd}{.ftz}{.sat}.f32", "=t0 t0 t0", bind_float<Add, float, 2, kFtzSatRnd>},
    {"add{.rnd}.f64", "=t0 t0 t0", bind_float<Add, double, 2, kRnd>},
    {"add{.rnd}{.ftz}.f32x2", "=t0 t0 t0", nullptr, 86, 100},
    {"add{.rnd}{.sat}.f32.f16|bf16", "=t0 t1 t0", nullptr, 86, 100},
    {"sub{.rnd}{.ftz}{.sat}.f32", "=t0 t0 t0", bind_float<Sub, float, 2, kFtzSatRnd>},
    {"sub{.rnd}.f64", "=t0 t0 t0", bind_float<Sub, double, 2, kRnd>},
    {"sub{.rnd}{.ftz}.f32x2", "=t0 t0 t0", nullptr, 86, 100},
    {"sub{.rnd}{.sat}.f32.f16|bf16", "=t0 t1 t0", nullptr, 86, 100},
    {"mul{.rnd}{.ftz}{.sat}.f32", "=t0 t0 t0", bind_float<Mul, float, 2, kFtzSatRnd>},
    {"mul{.rnd}.f64", "=t0 t0 t0", bind_float<Mul, double, 2, kRnd>},
    {"mul{.rnd}{.ftz}.f32x2", "=t0 t0 t0", nullptr, 86, 100},
    {"fma.rnd{.ftz}{.sat}.f32", "=t0 t0 t0 t0", bind_float<Fma, float, 3, kFtzSatRnd>},
    {"fma.rnd.f64", "=t0 t0 t0 t0", bind_float<Fma, double, 3, kRnd>},
    {"fma.rnd{.ftz}.f32x2", "=t0 t0 t0 t0", nullptr, 86, 100},
    {"fma.rnd{.sat}.f32.f16|bf16", "=t0 t1 t1 t0", nullptr, 86, 100},
    {"mad.rnd{.ftz}{.sat}.f32", "=t0 t0 t0 t0", bind_float<Fma, float, 3, kFtzSatRnd>},
    {"mad.rnd.f64", "=t0 t0 t0 t0", bind_float<Fma, double, 3, kRnd>},
    {"div.approx{.ftz}.f32", "=t0 t0 t0", bind_float<DivApprox, float, 2, kFtz>},
    {"div.full{.ftz}.f32", "=t0 t0 t0", bind_float<Div, float, 2, kFtz>},
    {"div.rnd{.ftz}.f32", "=t0 t0 t0", bind_float<Div, float, 2, kFtzRnd>},
    {"div.rnd.f64", "=t0 t0 t0", bind_float<Div, double, 2, kRnd>},
    {"abs.f32", "=t0 t0", bind_float<Abs, float, 1, kPlain>},
    {"abs.ftz.f32", "=t0 t0", bind_float<Abs, float, 1, kFtz>},
    {"abs.f64", "=t0 t0", bind_float<Abs, double, 1, kPlain>},
    {"neg.f32", "=t0 t0", bind_float<Neg, float, 1, kPlain>},
    {"neg.ftz.f32", "=t0 t0", bind_float<Neg, float, 1, kFtz>},
    {"neg.f64", "=t0 t0", bind_float<Neg, double, 1, kPlain>},
    {"min{.ftz}.f32", "=t0 t0 t0", bind_extreme<true>},
    {"min{.ftz}.NaN.f32", "=t0 t0 t0", bind_extreme<true>, 70, 80},
    {"min{.ftz}{.NaN}.xorsign.abs.f32", "=t0 t0 t0", bind_extreme<true>, 72, 86},
    {"min{.ftz}{.NaN}.abs.f32", "=t0 t0 t0 t0", nullptr, 88, 100},
    {"min.f64", "=t0 t0 t0", bind_float<Extreme<true, false>, double, 2, kPlain>},
    {"max{.ftz}.f32", "=t0 t0 t0", bind_extreme<false>},
    {"max{.ftz}.NaN.f32", "=t0 t0 t0", bind_extreme<false>, 70, 80},
    {"max{.ftz}{.NaN}.xorsign.abs.f32", "=t0 t0 t0", bind_extreme<false>, 72, 86},
    {"max{.ftz}{.NaN}.abs.f32", "=t0 t0 t0 t0", nullptr, 88, 100},
    {"max.f64", "=t0 t0 t0", bind_float<Extreme<false, false>, double, 2, kPlain>},
    {"rcp.approx{.ftz}.f32", "=t0 t0", bind_float<Rcp, float, 1, kFtz>},
    {"rcp.rnd{.ftz}.f32", "=t0 t0", bind_float<Rcp, float, 1, kFtzRnd>},
    {"rcp.rnd.f64", "=t0 t0", bind_float<Rcp, double, 1, kRnd>},
    {"rcp.approx.ftz.f64", "=t0 t0", bind_float<RcpGross, double, 1, kPlain>},
    {"sqrt.approx{.ftz}.f32", "=t0 t0", bind_float<Sqrt, float, 1, kFtz>},
    {"sqrt.rnd{.ftz}.f32", "=t0 t0", bind_float<Sqrt, float, 1, kFtzRnd>},
    {"sqrt.rnd.f64", "=t0 t0", bind_float<Sqrt, double, 1, kRnd>},
    {"rsqrt.approx{.ftz}.f32", "=t0 t0", bind_float<Rsqrt, float, 1, kFtz>},
    {"rsqrt.approx.f64", "=t0 t0", bind_float<Rsqrt, double, 1, kPlain>},
    {"rsqrt.approx.ftz.f64", "=t0 t0", bind_float<RsqrtGross, double, 1, kPlain>, 40},
    {"sin.approx{.ftz}.f32", "=t0 t0", bind_float<Sin, float, 1, kFtz>},
    {"cos.approx{.ftz}.f32", "=t0 t0", bind_float<Cos, float, 1, kFtz>},
    {"lg2.approx{.ftz}.f32", "=t0 t0", bind_float<Lg2, float, 1, kFtz>},
    {"ex2.approx{.ftz}.f32", "=t0 t0", bind_float<Ex2, float, 1, kFtz>},
    {"tanh.approx.f32", "=t0 t0", bind_float<Tanh, float, 1, kPlain>, 70, 75},

    {"add{.rn}{.ftz}{.sat}.f16|f16x2", "=t0 t0 t0", bind_half<HalfAdd, 2>, 42, 53},
    {"add{.rn}.bf16|bf16x2", "=t0 t0 t0", bind_half<HalfAdd, 2>, 78, 90},
    {"sub{.rn}{.ftz}{.sat}.f16|f16x2", "=t0 t0 t0", bind_half<HalfSub, 2>, 42, 53},
    {"sub{.rn}.bf16|bf16x2", "=t0 t0 t0", bind_half<HalfSub, 2>, 78, 90},
    {"mul{.rn}{.ftz}{.sat}.f16|f16x2", "=t0 t0 t0", bind_half<HalfMul, 2>, 42, 53},
    {"mul{.rn}.bf16|bf16x2", "=t0 t0 t0", bind_half<HalfMul, 2>, 78, 90},
    {"fma.rn{.ftz}{.sat}.f16|f16x2", "=t0 t0 t0 t0", bind_half<HalfFma, 3>, 42, 53},
    {"fma.rn{.ftz}.relu.f16|f16x2", "=t0 t0 t0 t0", bind_half<HalfFma, 3>, 70, 80},
    {"fma.rn{.relu}.bf16|bf16x2", "=t0 t0 t0 t0", bind_half<HalfFma, 3>, 70, 80},
    {"fma.rn.oob{.relu}.f16|f16x2|bf16|bf16x2", "=t0 t0 t0 t0", bind_half_oob, 81, 90},
    {"neg{.ftz}.f16|f16x2", "=t0 t0", bind_half_sign<true>, 60, 53},
    {"neg.bf16|bf16x2", "=t0 t0", bind_half_sign<true>, 70, 80},
    {"abs{.ftz}.f16|f16x2", "=t0 t0", bind_half_sign<false>, 65, 53},
    {"abs.bf16|bf16x2", "=t0 t0", bind_half_sign<false>, 70, 80},
    {"min{.ftz}{.NaN}.f16|f16x2", "=t0 t0 t0", bind_half_extreme<true>, 70, 80},
    {"min{.ftz}{.NaN}.xorsign.abs.f16|f16x2", "=t0 t0 t0", bind_half_extreme<true>, 72, 86},
    {"min{.NaN}.bf16|bf16x2", "=t0 t0 t0", bind_half_extreme<true>, 70, 80},
    {"min{.NaN}.xorsign.abs.bf16|bf16x2", "=t0 t0 t0", bind_half_extreme<true>, 72, 86},
    {"max{.ftz}{.NaN}.f16|f16x2", "=t0 t0 t0", bind_half_extreme<false>, 70, 80},
    {"max{.ftz}{.NaN}.xorsign.abs.f16|f16x2", "=t0 t0 t0", bind_half_extreme<false>, 72, 86},
    {"max{.NaN}.bf16|bf16x2", "=t0 t0 t0", bind_half_extreme<false>, 70, 80},
    {"max{.NaN}.xorsign.abs.bf16|bf16x2", "=t0 t0 t0", bind_half_extreme<false>, 72, 86},
    {"tanh.approx.f16|f16x2", "=t0 t0", bind_half<HalfTanh, 1>, 70, 75},
    {"tanh.approx.bf16|bf16x2", "=t0 t0", bind_half<HalfTanh, 1>, 78, 90},
    {"ex2.approx.f16|f16x2", "=t0 t0", bind_half_ex2, 70, 75},
    {"ex2.approx.ftz.bf16|bf16x2", "=t0 t0", bind_half_ex2, 78, 90},
};

}  // namespace

std::span<const Row> float_rows() { return kRows; }

}  // namespace cudasim
