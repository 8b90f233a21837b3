// Integer arithmetic. PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic
// Instructions".
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>
#include <limits>

namespace cudasim {
namespace {

template <class T>
constexpr T kMost = std::numeric_limits<T>::max();
template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();
template <class T>
constexpr u32 kBits = sizeof(T) * 8;

i32 clamp32(i64 value) { return static_cast<i32>(std::clamp<i64>(value, kLeast<i32>, kMost<i32>)); }

struct Add {
  template <class T>
  static T of(T a, T b) {
    return T(Ring<T>(a) + Ring<T>(b));
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return T(Ring<T>(a) - Ring<T>(b));
  }
};
struct AddSat {
  static i32 of(i32 a, i32 b) { return clamp32(i64{a} + b); }
};
struct SubSat {
  static i32 of(i32 a, i32 b) { return clamp32(i64{a} - b); }
};
struct MulLo {
  template <class T>
  static T of(T a, T b) {
    return T(Ring<T>(a) * Ring<T>(b));
  }
};
struct MulWide {
  template <class T>
  static Twice<T> of(T a, T b) {
    return Twice<T>(a) * Twice<T>(b);
  }
};
struct MulHi {
  template <class T>
  static T of(T a, T b) {
    return T(MulWide::of(a, b) >> kBits<T>);
  }
};
struct MadLo {
  template <class T>
  static T of(T a, T b, T c) {
    return T(Ring<T>(a) * Ring<T>(b) + Ring<T>(c));
  }
};
struct MadHi {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MulHi::of(a, b), c);
  }
};
struct MadHiSat {
  static i32 of(i32 a, i32 b, i32 c) { return AddSat::of(MulHi::of(a, b), c); }
};
struct MadWide {
  template <class T>
  static Twice<T> of(T a, T b, Twice<T> c) {
    return Add::of(MulWide::of(a, b), c);
  }
};

// The low 24 bits of each factor; the product's 48 bits give a low and a high word: bits 31..0 and 47..16.
i64 low24(i32 a) { return i32(u32(a) << 8) >> 8; }
u64 low24(u32 a) { return a & 0xff'ffffu; }
struct Mul24Lo {
  template <class T>
  static T of(T a, T b) {
    return T(low24(a) * low24(b));
  }
};
struct Mul24Hi {
  template <class T>
  static T of(T a, T b) {
    return T((low24(a) * low24(b)) >> 16);
  }
};
struct Mad24Lo {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(Mul24Lo::of(a, b), c);
  }
};
struct Mad24Hi {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(Mul24Hi::of(a, b), c);
  }
};
struct Mad24HiSat {
  static i32 of(i32 a, i32 b, i32 c) { return AddSat::of(Mul24Hi::of(a, b), c); }
};

struct Sad {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(c, a < b ? Sub::of(b, a) : Sub::of(a, b));
  }
};

// The manual leaves division by zero open. On an H200, quotient and remainder are all ones. The smallest number divided
// by -1 wraps.
struct Div {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return T(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Sub::of(T{0}, a);
    }
    return T(a / b);
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return T(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return T(a % b);
  }
};

struct Neg {
  template <class T>
  static T of(T a) {
    return Sub::of(T{0}, a);
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    return a < 0 ? Neg::of(a) : a;
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
template <class Op>
struct Relu {
  template <class T>
  static T of(T a, T b) {
    return Max::of(Op::of(a, b), T{0});
  }
};

// Bits

struct Popc {
  template <class T>
  static u32 of(T a) {
    return u32(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  static u32 of(T a) {
    return u32(std::countl_zero(a));
  }
};
struct Bfind {  // the highest bit that differs from the sign
  template <class T>
  static u32 of(T a) {
    const auto u = Unsigned<T>(a < 0 ? ~a : a);
    return u == 0 ? ~0u : kBits<T> - 1 - Clz::of(u);
  }
};
struct BfindShift {  // by how much to shift it to the top
  template <class T>
  static u32 of(T a) {
    const u32 at = Bfind::of(a);
    return at == ~0u ? at : kBits<T> - 1 - at;
  }
};
struct Brev {
  template <class T>
  static T of(T a) {
    constexpr auto swap = [](T v, u32 n, T mask) { return T((v >> n & mask) | (v & mask) << n); };
    a = swap(a, 1, T(0x5555'5555'5555'5555u));
    a = swap(a, 2, T(0x3333'3333'3333'3333u));
    a = swap(a, 4, T(0x0f0f'0f0f'0f0f'0f0fu));
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(a);
    return T(__builtin_bswap32(u32(a)));
  }
};
// The manual restricts a field's position and length to [0, 255]. An H200 takes the low eight bits of larger ones in
// 32-bit operations, and all bits in 64-bit operations.
template <class T>
u32 field_bound(u32 n) {
  return sizeof(T) == 8 ? std::min(n, 255u) : n & 0xff;
}
struct Bfe {
  template <class T>
  static T of(T a, u32 position, u32 length) {
    using U = Unsigned<T>;
    position = field_bound<T>(position);
    length = field_bound<T>(length);
    if (length == 0) return 0;
    constexpr u32 top = kBits<T> - 1;
    const bool sign = std::is_signed_v<T> && (U(a) >> std::min(position + length - 1, top) & 1);
    const U field = position > top ? U{0} : U(U(a) >> position);
    const u32 there = position > top ? 0 : std::min(length, top + 1 - position);  // bits that exist
    const U mask = there == 0 ? U{0} : U(~U{0} >> (top + 1 - there));
    return T(sign ? (field & mask) | ~mask : field & mask);
  }
};
struct Bfi {  // a's low bits into b
  template <class T>
  static T of(T a, T b, u32 position, u32 length) {
    position = field_bound<T>(position);
    length = field_bound<T>(length);
    if (length == 0 || position >= kBits<T>) return b;
    const T mask = T((length >= kBits<T> ? ~T{0} : T((T{1} << length) - 1)) << position);
    return T((a << position & mask) | (b & ~mask));
  }
};
struct Fns {  // the position of the offset-th set bit at or after (before, if negative) `base`
  static u32 of(u32 mask, u32 base, i32 offset) {
    if (offset == std::numeric_limits<i32>::min()) return 0;  // cannot be negated: as an H200 does
    if (base > 31) return ~0u;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const i32 step = offset < 0 ? -1 : 1;
    u32 left = offset < 0 ? u32(-i64{offset}) : u32(offset);
    for (i32 at = i32(base); at >= 0 && at < 32; at += step) {
      if (mask >> at & 1 && --left == 0) return u32(at);
    }
    return ~0u;
  }
};
template <bool kWrap>
struct Szext {  // the low bits of a, extended
  template <class T>
  static T of(T a, u32 length) {
    if (kWrap) length &= 31;
    if (length >= 32) return a;
    return Bfe::of(a, 0, length);
  }
};
template <bool kWrap>
struct Bmsk {
  static u32 of(u32 position, u32 length) {
    if (kWrap) {
      position &= 31;
      length &= 31;
    }
    if (position >= 32 || length == 0) return 0;
    return (length >= 32 ? ~0u : (1u << length) - 1) << position;
  }
};

template <class A, class B>
struct Dp4a {
  static u32 of(u32 a, u32 b, u32 c) {
    for (u32 i = 0; i < 32; i += 8) c += u32(i32(A(a >> i)) * i32(B(b >> i)));
    return c;
  }
};
template <class A, class B, u32 kHigh>
struct Dp2a {  // two halves of a with two bytes of b
  static u32 of(u32 a, u32 b, u32 c) {
    for (u32 i = 0; i < 2; ++i) c += u32(i32(A(a >> 16 * i))) * u32(i32(B(b >> (16 * kHigh + 8 * i))));
    return c;
  }
};

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
    {"brev.b32|b64", "=t0 t0", bind1_size<Brev>},
    {"bfe.u32|u64|s32|s64", "=t0 t0 u32(0-255) u32(0-255)", bind_bfe},
    {"bfi.b32|b64", "=t0 t0 t0 u32(0-255) u32(0-255)", bind_bfi},
    {"szext.clamp|wrap.u32|s32", "=t0 t0 u32", bind_szext, 76, 70},
    {"bmsk.clamp|wrap.b32", "=u32 u32 u32", bind_bmsk, 76, 70},
    {"dp4a.u32|s32.u32|s32", "=u32 t0 t1 u32", bind_dot<Dp4a, u8, u8>, 50, 61},
    {"dp2a.lo|hi.u32|s32.u32|s32", "=u32 t0 t1 u32", bind_dp2a, 50, 61},
};

}  // namespace

std::span<const Row> arithmetic_rows() { return kRows; }

}  // namespace cudasim
