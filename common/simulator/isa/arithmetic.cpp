// Integer arithmetic. PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic
// Instructions".
#include "common/simulator/isa/integers.hpp"
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>
#include <limits>

namespace cudasim {
namespace {

using namespace integers;

// Carry chains

// d = a + b (+ CC), lane by lane; CC.CF is written if kSet. A subtraction adds the complement and one: after it, CC.CF
// is the sum's carry, which says that nothing was borrowed. The manual calls it borrow, and a chain of subtractions
// cannot tell the two apart; but the 128-bit division that NVIDIA's compiler puts into programs reads it with addc.
template <class T, bool kUse, bool kSet, bool kSubtract>
void run_carry(Warp& warp, const Instruction& i) {
  T* d = warp.out<T>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  const T* b = warp.in<T>(i.slot[2]);
  const u32 before = kUse ? warp.carry : kSubtract ? kAllLanes : 0;
  u32 after = warp.carry;
  for (const u32 lane : set_bits(warp.mask)) {
    const T in = before >> lane & 1, x = a[lane], y = kSubtract ? T(~b[lane]) : b[lane];
    T sum;
    bool out = __builtin_add_overflow(x, y, &sum);
    out |= __builtin_add_overflow(sum, in, &sum);
    d[lane] = sum;
    after = (after & ~(1u << lane)) | u32(out) << lane;
  }
  if (kSet) warp.carry = after;
}
// d = low or high word of a * b, + c (+ CC). T's sign matters to the high word only.
template <class T, bool kHigh, bool kUse, bool kSet>
void run_mad_carry(Warp& warp, const Instruction& i) {
  using U = Unsigned<T>;
  U* d = warp.out<U>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  const T* b = warp.in<T>(i.slot[2]);
  const U* c = warp.in<U>(i.slot[3]);
  const u32 before = kUse ? warp.carry : 0;
  u32 after = warp.carry;
  for (const u32 lane : set_bits(warp.mask)) {
    const U product = U(kHigh ? MulHi::of(a[lane], b[lane]) : MulLo::of(a[lane], b[lane]));
    U sum;
    bool out = __builtin_add_overflow(product, c[lane], &sum);
    out |= __builtin_add_overflow(sum, U(before >> lane & 1), &sum);
    d[lane] = sum;
    after = (after & ~(1u << lane)) | u32(out) << lane;
  }
  if (kSet) warp.carry = after;
}

template <bool kUse, bool kSubtract>
Bound bind_carry(const Form& form) {
  const bool set = form.has("cc");
  return for_size(form.type[0], [set](auto zero) -> Bound {
    using T = decltype(zero);
    if constexpr (sizeof(T) < 4) return nullptr;
    return set ? run_carry<T, kUse, true, kSubtract> : run_carry<T, kUse, false, kSubtract>;
  });
}
template <bool kHigh, bool kUse>
Bound bind_mad_carry(const Form& form) {
  const bool set = form.has("cc");
  return for_integer(form.type[0], [set](auto zero) -> Bound {
    using T = decltype(zero);
    if constexpr (sizeof(T) < 4) return nullptr;
    return set ? run_mad_carry<T, kHigh, kUse, true> : run_mad_carry<T, kHigh, kUse, false>;
  });
}

// Binding: by the first type, signed or not (…), or only by its size (_size).

template <class Op>
Bound bind1(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound { return run1<Op, decltype(zero), decltype(zero)>; });
}
template <class Op>
Bound bind2(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run2<Op, T, T, T>;
  });
}
template <class Op>
Bound bind3(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run3<Op, T, T, T, T>;
  });
}
template <class Op>
Bound bind1_size(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound { return run1<Op, decltype(zero), decltype(zero)>; });
}
template <class Op>
Bound bind2_size(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run2<Op, T, T, T>;
  });
}
template <class Op>
Bound bind3_size(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run3<Op, T, T, T, T>;
  });
}
template <class Op, class T>
Bound bind2_pair(const Form&) {
  return run2<Paired<Op, T>, u32, u32, u32>;
}
template <class Op>
Bound bind2_pairs(const Form& form) {
  return form.type[0] == Type::s16x2 ? bind2_pair<Op, i16>(form) : bind2_pair<Op, u16>(form);
}
template <class Op>
Bound bind2_s32(const Form&) {
  return run2<Op, i32, i32, i32>;
}
template <class Op>
Bound bind3_s32(const Form&) {
  return run3<Op, i32, i32, i32, i32>;
}
template <class Op>
Bound bind_count(const Form& form) {  // → u32
  return for_integer(form.type[0], [](auto zero) -> Bound { return run1<Op, u32, decltype(zero)>; });
}
template <>
Bound bind_count<Popc>(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound { return run1<Popc, u32, decltype(zero)>; });
}
template <>
Bound bind_count<Clz>(const Form& form) {
  return for_size(form.type[0], [](auto zero) -> Bound { return run1<Clz, u32, decltype(zero)>; });
}
Bound bind_mul_wide(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 8)
      return nullptr;
    else
      return run2<MulWide, Twice<T>, T, T>;
  });
}
Bound bind_mad_wide(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 8)
      return nullptr;
    else
      return run3<MadWide, Twice<T>, T, T, Twice<T>>;
  });
}
template <class Op>
Bound bind2_32(const Form& form) {
  return form.type[0] == Type::s32 ? run2<Op, i32, i32, i32> : run2<Op, u32, u32, u32>;
}
template <class Op>
Bound bind3_32(const Form& form) {
  return form.type[0] == Type::s32 ? run3<Op, i32, i32, i32, i32> : run3<Op, u32, u32, u32, u32>;
}
Bound bind_bfe(const Form& form) {
  return for_integer(form.type[0], [](auto zero) -> Bound {
    using T = decltype(zero);
    return run3<Bfe, T, T, u32, u32>;
  });
}
template <class T>
void run_bfi(Warp& warp, const Instruction& i) {
  described<run_bfi<T>, Computes<Bfi, T, T, T, u32, u32>>();
  T* d = warp.out<T>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  const T* b = warp.in<T>(i.slot[2]);
  const u32* position = warp.in<u32>(i.slot[3]);
  const u32* length = warp.in<u32>(i.slot[4]);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = Bfi::of(a[lane], b[lane], position[lane], length[lane]); });
}
Bound bind_bfi(const Form& form) { return form.type[0] == Type::b64 ? run_bfi<u64> : run_bfi<u32>; }
Bound bind_fns(const Form&) { return run3<Fns, u32, u32, u32, i32>; }
Bound bind_szext(const Form& form) {
  const bool wrap = form.has("wrap");
  if (form.type[0] == Type::s32) return wrap ? run2<Szext<true>, i32, i32, u32> : run2<Szext<false>, i32, i32, u32>;
  return wrap ? run2<Szext<true>, u32, u32, u32> : run2<Szext<false>, u32, u32, u32>;
}
Bound bind_bmsk(const Form& form) {
  return form.has("wrap") ? run2<Bmsk<true>, u32, u32, u32> : run2<Bmsk<false>, u32, u32, u32>;
}
template <template <class, class> class Op, class Large, class Small>
Bound bind_dot(const Form& form) {
  using SignedLarge = std::make_signed_t<Large>;
  using SignedSmall = std::make_signed_t<Small>;
  const bool a = form.type[0] == Type::s32, b = form.type[1] == Type::s32;
  if (a && b) return run3<Op<SignedLarge, SignedSmall>, u32, u32, u32, u32>;
  if (a) return run3<Op<SignedLarge, Small>, u32, u32, u32, u32>;
  if (b) return run3<Op<Large, SignedSmall>, u32, u32, u32, u32>;
  return run3<Op<Large, Small>, u32, u32, u32, u32>;
}
template <class A, class B>
using Dp2aLow = Dp2a<A, B, 0>;
template <class A, class B>
using Dp2aHigh = Dp2a<A, B, 1>;
Bound bind_dp2a(const Form& form) {
  return form.has("hi") ? bind_dot<Dp2aHigh, u16, u8>(form) : bind_dot<Dp2aLow, u16, u8>(form);
}

constexpr Row kRows[] = {
    {"add.int", "=t0 t0 t0", bind2_size<Add>, 0, 0, kSum},
    {"add.sat.s32", "=t0 t0 t0", bind2_s32<AddSat>},
    {"add.u16x2|s16x2", "=t0 t0 t0", bind2_pair<Add, u16>, 80, 90},
    {"sub.int", "=t0 t0 t0", bind2_size<Sub>},
    {"sub.sat.s32", "=t0 t0 t0", bind2_s32<SubSat>},
    {"mul.lo.int", "=t0 t0 t0", bind2_size<MulLo>},
    {"mul.hi.int", "=t0 t0 t0", bind2<MulHi>},
    {"mul.wide.u16|u32|s16|s32", "=w0 t0 t0", bind_mul_wide, 0, 0, kWideProduct},
    {"mad.lo.int", "=t0 t0 t0 t0", bind3_size<MadLo>},
    {"mad.hi.int", "=t0 t0 t0 t0", bind3<MadHi>},
    {"mad.hi.sat.s32", "=t0 t0 t0 t0", bind3_s32<MadHiSat>},
    {"mad.wide.u16|u32|s16|s32", "=w0 t0 t0 w0", bind_mad_wide, 0, 0, kWideProduct},
    {"mul24.lo.u32|s32", "=t0 t0 t0", bind2_32<Mul24Lo>},
    {"mul24.hi.u32|s32", "=t0 t0 t0", bind2_32<Mul24Hi>},
    {"mad24.lo.u32|s32", "=t0 t0 t0 t0", bind3_32<Mad24Lo>},
    {"mad24.hi.u32|s32", "=t0 t0 t0 t0", bind3_32<Mad24Hi>},
    {"mad24.hi.sat.s32", "=t0 t0 t0 t0", bind3_s32<Mad24HiSat>},
    {"sad.int", "=t0 t0 t0 t0", bind3<Sad>},
    {"div.int", "=t0 t0 t0", bind2<Div>},
    {"rem.int", "=t0 t0 t0", bind2<Rem>},
    {"abs.s16|s32|s64", "=t0 t0", bind1<Abs>},
    {"neg.s16|s32|s64", "=t0 t0", bind1_size<Neg>},
    {"min.int", "=t0 t0 t0", bind2<Min>},
    {"min.u16x2|s16x2", "=t0 t0 t0", bind2_pairs<Min>, 80, 90},
    {"min.relu.s16x2", "=t0 t0 t0", bind2_pair<Relu<Min>, i16>, 80, 90},
    {"min.relu.s32", "=t0 t0 t0", bind2_s32<Relu<Min>>, 80, 90},
    {"max.int", "=t0 t0 t0", bind2<Max>},
    {"max.u16x2|s16x2", "=t0 t0 t0", bind2_pairs<Max>, 80, 90},
    {"max.relu.s16x2", "=t0 t0 t0", bind2_pair<Relu<Max>, i16>, 80, 90},
    {"max.relu.s32", "=t0 t0 t0", bind2_s32<Relu<Max>>, 80, 90},

    {"add.cc.u32|s32|u64|s64", "=t0 t0 t0", bind_carry<false, false>},
    {"addc{.cc}.u32|s32|u64|s64", "=t0 t0 t0", bind_carry<true, false>},
    {"sub.cc.u32|s32|u64|s64", "=t0 t0 t0", bind_carry<false, true>},
    {"subc{.cc}.u32|s32|u64|s64", "=t0 t0 t0", bind_carry<true, true>},
    {"mad.lo.cc.u32|s32|u64|s64", "=t0 t0 t0 t0", bind_mad_carry<false, false>},
    {"mad.hi.cc.u32|s32|u64|s64", "=t0 t0 t0 t0", bind_mad_carry<true, false>},
    {"madc.lo{.cc}.u32|s32|u64|s64", "=t0 t0 t0 t0", bind_mad_carry<false, true>},
    {"madc.hi{.cc}.u32|s32|u64|s64", "=t0 t0 t0 t0", bind_mad_carry<true, true>},

    {"popc.b32|b64", "=u32 t0", bind_count<Popc>},
    {"clz.b32|b64", "=u32 t0", bind_count<Clz>},
    {"bfind.u32|u64|s32|s64", "=u32 t0", bind_count<Bfind>},
    {"bfind.shiftamt.u32|u64|s32|s64", "=u32 t0", bind_count<BfindShift>},
    {"fns.b32", "=b32 b32 b32 s32", bind_fns},
    {"brev.b32|b64", "=t0 t0", bind1_size<Brev>, 0, 0, kMovesBits},
    {"bfe.u32|u64|s32|s64", "=t0 t0 u32(0-255) u32(0-255)", bind_bfe, 0, 0, kMovesBits},
    {"bfi.b32|b64", "=t0 t0 t0 u32(0-255) u32(0-255)", bind_bfi, 0, 0, kMovesBits},
    {"szext.clamp|wrap.u32|s32", "=t0 t0 u32", bind_szext, 76, 70},
    {"bmsk.clamp|wrap.b32", "=u32 u32 u32", bind_bmsk, 76, 70},
    {"dp4a.u32|s32.u32|s32", "=u32 t0 t1 u32", bind_dot<Dp4a, u8, u8>, 50, 61},
    {"dp2a.lo|hi.u32|s32.u32|s32", "=u32 t0 t1 u32", bind_dp2a, 50, 61},
};

}  // namespace

std::span<const Row> arithmetic_rows() { return kRows; }

}  // namespace cudasim
