// Common conversions, lane by lane, between registers that are as wide as the types. PTX ISA, "Data Movement and
// Conversion Instructions". Handlers (convert.cpp) and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/values.hpp"

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
// A floating-point source, flushed if kFtz.
template <bool kFtz, class F>
inline F source(F a) {
  if constexpr (kFtz) a = flush(a);
  return a;
}
// To a whole number, as kMode (Rounding) says.
template <u32 kMode, class F>
inline F whole(F a) {
  if constexpr (kMode == kZero) return math::trunc(a);
  if constexpr (kMode == kDown) return math::floor(a);
  if constexpr (kMode == kUp) return math::ceil(a);
  return math::nearest(a);
}
// To an integer. Out of range is the nearest there is; NaN is 0, or the highest bit alone where 64 bits are involved.
template <class T, u32 kMode, bool kFtz>
struct ToInteger {
  template <class F>
  static T of(F a) {
    constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    constexpr bool kLong = sizeof(T) == 8 || sizeof(F) == 8;
    constexpr T kOfNan = kLong ? T(Top(1) << (sizeof(T) * 8 - 1)) : T{0};
    const F x = whole<kMode>(source<kFtz>(a)), low = F(kLeast), above = F(kMost / 2 + 1) * 2;
    const bool inside = x >= low && x < above;
    const T value = converted(inside ? x : F{0});
    return inside ? value : a != a ? kOfNan : x < 0 ? kLeast : kMost;
  }

 private:
  using Top = std::make_unsigned_t<T>;
  // Processors convert to signed integers only, without AVX-512.
  template <class F>
  static T converted(F x) {
    if constexpr (std::is_signed_v<T>) {
      return T(x);
    } else {
      using S = std::make_signed_t<T>;
      const F half = F(Top(1) << (sizeof(T) * 8 - 1));
      const bool large = x >= half;
      return T(S(large ? x - half : x)) + (T(large) << (sizeof(T) * 8 - 1));
    }
  }
};
// To a whole number of the same type.
template <u32 kMode, bool kFtz>
struct ToWhole {
  static float of(float a) { return canonical(whole<kMode>(source<kFtz>(a))); }
  static double of(double a) { return whole<kMode>(a); }
};
// A T in a register that may be wider.
template <class T, class To>
struct FromInteger {
  template <class R>
  static To of(R a) {
    return To(T(a));
  }
};
struct FlushedF32ToF64 {
  static double of(float a) { return canonical(flush(a)); }
};
struct FlushedF64ToF32 {
  static float of(double a) { return flush(float(a)); }
};
struct S32ToF16 {  // what single precision rounds is beyond a half's range
  static u16 of(i32 a) { return to_f16(float(a)); }
};
template <class To>
struct PackedNearest {
  static u32 of(float a, float b) { return halves(To::of(b), To::of(a)); }
};

}  // namespace cudasim::conversions
