// What the integer instructions compute, lane by lane: Op::of(a, b …). PTX ISA, "Integer Arithmetic Instructions".
// Handlers (arithmetic.cpp) and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/isa/functions.hpp"
#include "common/simulator/isa/values.hpp"

#include <bit>
#include <limits>

namespace cudasim::integers {

template <class T>
constexpr T kMost = std::numeric_limits<T>::max();
template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();
template <class T>
constexpr u32 kBits = sizeof(T) * 8;

inline i32 clamp32(i64 value) { return static_cast<i32>(math::clamp<i64>(value, kLeast<i32>, kMost<i32>)); }

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
inline i64 low24(i32 a) { return i32(u32(a) << 8) >> 8; }
inline u64 low24(u32 a) { return a & 0xff'ffffu; }
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
  return sizeof(T) == 8 ? math::min(n, 255u) : n & 0xff;
}
struct Bfe {
  template <class T>
  static T of(T a, u32 position, u32 length) {
    using U = Unsigned<T>;
    position = field_bound<T>(position);
    length = field_bound<T>(length);
    if (length == 0) return 0;
    constexpr u32 top = kBits<T> - 1;
    const bool sign = std::is_signed_v<T> && (U(a) >> math::min(position + length - 1, top) & 1);
    const U field = position > top ? U{0} : U(U(a) >> position);
    const u32 there = position > top ? 0 : math::min(length, top + 1 - position);  // bits that exist
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

}  // namespace cudasim::integers
