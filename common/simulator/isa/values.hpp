// Integer arithmetic without undefined behavior, and pairs of 16-bit values: what the operations of several families
// share. Handlers and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/words.hpp"

#include <type_traits>

namespace cudasim {

// Integer arithmetic happens here, modulo 2^n: 32 bits at least, so that no promotion to int is left.
template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Ring = std::conditional_t<sizeof(T) < 4, u32, Unsigned<T>>;
// The product of two Ts fits.
template <class T>
struct TwiceOf;
template <>
struct TwiceOf<u16> {
  using type = u32;
};
template <>
struct TwiceOf<i16> {
  using type = i32;
};
template <>
struct TwiceOf<u32> {
  using type = u64;
};
template <>
struct TwiceOf<i32> {
  using type = i64;
};
template <>
struct TwiceOf<u64> {
  using type = unsigned __int128;
};
template <>
struct TwiceOf<i64> {
  using type = __int128;
};
template <class T>
using Twice = typename TwiceOf<T>::type;

// Both halves of a 32-bit register: f(T, T …) → T on each.
template <class T>
inline T half(u32 word, u32 which) {
  return static_cast<T>(word >> (16 * which));
}
inline u32 halves(u32 low, u32 high) { return (low & 0xffffu) | high << 16; }

// Op on 16-bit Ts, made an operation on packed pairs of them.
template <class Op, class T>
struct Paired {
  static u32 of(u32 a) { return halves(u16(Op::of(half<T>(a, 0))), u16(Op::of(half<T>(a, 1)))); }
  static u32 of(u32 a, u32 b) {
    return halves(u16(Op::of(half<T>(a, 0), half<T>(b, 0))), u16(Op::of(half<T>(a, 1), half<T>(b, 1))));
  }
  static u32 of(u32 a, u32 b, u32 c) {
    return halves(u16(Op::of(half<T>(a, 0), half<T>(b, 0), half<T>(c, 0))),
                  u16(Op::of(half<T>(a, 1), half<T>(b, 1), half<T>(c, 1))));
  }
};

}  // namespace cudasim
