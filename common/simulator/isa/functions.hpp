// The functions of <cmath> and <algorithm> that instructions need. Compiled kernels (compile/) include no larger
// header: the compiler would spend most of its time on reading those two.
#pragma once

namespace cudasim::math {

inline float fabs(float a) { return __builtin_fabsf(a); }
inline double fabs(double a) { return __builtin_fabs(a); }
inline float copysign(float a, float sign) { return __builtin_copysignf(a, sign); }
inline double copysign(double a, double sign) { return __builtin_copysign(a, sign); }
inline float floor(float a) { return __builtin_floorf(a); }
inline double floor(double a) { return __builtin_floor(a); }
inline float ceil(float a) { return __builtin_ceilf(a); }
inline double ceil(double a) { return __builtin_ceil(a); }
inline float trunc(float a) { return __builtin_truncf(a); }
inline double trunc(double a) { return __builtin_trunc(a); }
inline float nearest(float a) { return __builtin_nearbyintf(a); }  // ties to even
inline double nearest(double a) { return __builtin_nearbyint(a); }
inline long double sqrt(long double a) { return __builtin_sqrtl(a); }
inline double sin(double a) { return __builtin_sin(a); }
inline double cos(double a) { return __builtin_cos(a); }
inline float log2(float a) { return __builtin_log2f(a); }
inline double log2(double a) { return __builtin_log2(a); }
inline float tanh(float a) { return __builtin_tanhf(a); }
inline bool signbit(float a) { return __builtin_signbit(a) != 0; }

template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T clamp(T a, T least, T most) {
  return a < least ? least : most < a ? most : a;
}

}  // namespace cudasim::math
