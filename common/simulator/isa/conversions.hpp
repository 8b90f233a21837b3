// Common conversions, lane by lane, between registers that are as wide as the types. PTX ISA, "Data Movement and
// Conversion Instructions". Handlers (convert.cpp) and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/isa/floats.hpp"

#include <limits>
#include <type_traits>

namespace cudasim::conversions {

struct Copy {
  template <class T>
  static T of(T a) {
    return a;
  }
};
// An integer of `from` bits in a register From as one of `to` bits in a To. Extension of a value within a register is a
// shift up and down again.
template <class From, bool kFromSigned, class To, bool kToSigned, bool kSat>
struct Extend {
  using U = std::conditional_t<sizeof(From) == 8 || sizeof(To) == 8, u64, u32>;
  using S = std::make_signed_t<U>;
  using In = std::conditional_t<kFromSigned, S, U>;
  using Out = std::conditional_t<kToSigned, S, U>;
  static To of(From a, u32 from, u32 to) {
    constexpr u32 kWidth = sizeof(U) * 8;
    const u32 in_shift = kWidth - from, out_shift = kWidth - to;
    // The destination's range, as far as In can tell.
    const U most = U(~U{0}) >> (out_shift + (kToSigned ? 1 : 0));
    const In high =
        kFromSigned && most > U(std::numeric_limits<S>::max()) ? In(std::numeric_limits<S>::max()) : In(most);
    const In low = kFromSigned && kToSigned ? In(~most) : In{0};
    In x = In(U(a) << in_shift) >> in_shift;
    if (kSat) x = x < low ? low : x > high ? high : x;
    return To(Out(U(x) << out_shift) >> out_shift);
  }
};

struct F16ToF32 {
  static float of(u16 a) { return canonical(from_f16(a)); }
};
struct F32ToF16 {
  static u16 of(float a) { return to_f16(a); }
};
struct F32ToBf16 {
  static u16 of(float a) { return to_bf16(a); }
};
struct F32ToF64 {
  static double of(float a) { return a; }
};
struct Saturated {
  static float of(float a) { return saturate(a); }
};
struct F64ToF32 {
  static float of(double a) { return float(a); }  // a NaN's sign and upper bits stay
};
struct ToF32 {
  template <class T>
  static float of(T a) {
    return float(a);
  }
};
struct ToF64 {
  template <class T>
  static double of(T a) {
    return double(a);
  }
};
struct F32ToS32 {  // towards zero
  static i32 of(float a) {
    const bool inside = a >= -0x1p31f && a < 0x1p31f;
    const i32 outside = a != a ? 0 : a < 0 ? std::numeric_limits<i32>::min() : std::numeric_limits<i32>::max();
    const i32 value = i32(inside ? a : 0.0f);
    return inside ? value : outside;
  }
};
struct F32ToU32 {
  static u32 of(float a) { return a > 0 ? (a < 0x1p32f ? u32(i64(a)) : ~0u) : 0; }
};

}  // namespace cudasim::conversions
