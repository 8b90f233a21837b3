// What the logic and shift instructions compute, lane by lane. PTX ISA, "Logic and Shift Instructions". Handlers
// (logic.cpp) and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/isa/functions.hpp"
#include "common/simulator/isa/values.hpp"

namespace cudasim::logic {

struct And {
  template <class T>
  static T of(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return T(~a);
  }
};
struct Cnot {
  template <class T>
  static T of(T a) {
    return a == 0;
  }
};

// Shift amounts beyond the width count as the width.
struct Shl {
  template <class T>
  static T of(T a, u32 n) {
    return n >= sizeof(T) * 8 ? T{0} : T(Ring<T>(a) << (n & (sizeof(T) * 8 - 1)));
  }
};
struct Shr {
  template <class T>
  static T of(T a, u32 n) {
    constexpr u32 kTop = sizeof(T) * 8 - 1;
    if constexpr (std::is_signed_v<T>)
      return T(a >> math::min(n, kTop));
    else
      return n > kTop ? T{0} : T(a >> (n & kTop));
  }
};
// 32 bits of b:a, shifted: the upper ones to the left, the lower ones to the right.
template <bool kLeft, bool kWrap>
struct Shf {
  static u32 of(u32 a, u32 b, u32 n) {
    n = kWrap ? n & 31 : math::min(n, 32u);
    const u64 both = u64{b} << 32 | a;
    return u32(kLeft ? both << n >> 32 : both >> n);
  }
};
// Four bytes of b:a. Each four bits of the selector name one; the highest of the four: its sign, eight times.
struct Prmt {
  static u32 of(u32 a, u32 b, u32 selector) {
    u32 d = 0;
    for (u32 at = 0; at < 4; ++at) {
      const u32 pick = selector >> 4 * at;
      const u32 byte = ((pick & 4) != 0 ? b : a) >> 8 * (pick & 3) & 0xff;
      const u32 sign = (u32{0} - (byte >> 7)) & 0xff;
      d |= ((pick & 8) != 0 ? sign : byte) << 8 * at;
    }
    return d;
  }
};

}  // namespace cudasim::logic
