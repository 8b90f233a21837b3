// What a thread computes alone, in the language's many ways: functions for both sides. The host's compiler makes the
// expected values of them, the device's compilers the kernels (language.cu). Includes nothing: some compilers of PTX
// have no headers.
#pragma once
#ifndef SHARED_BY_BOTH
#define SHARED_BY_BOTH inline
#endif

namespace language {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;

SHARED_BY_BOTH u32 mixed(u32 x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// Templates, with recursion at compile time.
template <int n>
struct Power {
  template <class T>
  static SHARED_BY_BOTH T of(T x) {
    return x * Power<n - 1>::of(x);
  }
};
template <>
struct Power<0> {
  template <class T>
  static SHARED_BY_BOTH T of(T) {
    return T(1);
  }
};
template <class... T>
SHARED_BY_BOTH u64 sum_of_sizes(T... x) {
  return (u64(sizeof(x)) + ... + u64(0)) + (u64(x) + ... + u64(0));
}
SHARED_BY_BOTH u64 templates(u32 x) {
  return Power<5>::of(u64(x)) + u64(Power<7>::of(i32(x % 13))) + sum_of_sizes(u8(x), u16(x), x, u64(x) * x);
}

// Integers of every width, signed shifts, divisions, remainders.
SHARED_BY_BOTH u64 integers(u32 x) {
  const i8 a = i8(x);
  const i16 b = i16(x >> 3);
  const i32 c = i32(mixed(x));
  const i64 d = i64(u64(c) * 0x9e3779b97f4a7c15ull);
  u64 r = u64(a * b) + u64(i64(c) >> (x % 40)) + u64(d >> (x % 63));
  r ^= u64(d / (i64(a) | 1)) + u64(d % (i64(b) | 1)) * 3;
  r += u64(c / (i32(a) | 1)) ^ u64(u32(c) % (u32(b) | 1));
  r ^= u64(u8(x) / (u8(x >> 8) | 1)) << 32;
  return r + (u64(c) << 20 | u64(c) >> 44);
}

// 128 bits.
SHARED_BY_BOTH u64 wide(u32 x) {
  const unsigned __int128 a = (unsigned __int128)(mixed(x)) * 0x123456789abcdef1ull << 31 | x;
  const __int128 b = (__int128)(a * a) - (__int128)(x), c = b >> (x % 100), d = c << (x % 30);
  return u64(a >> 64) ^ u64(b) ^ u64(c) ^ u64(c >> 64) ^ u64(d >> 70) ^ u64(a > (unsigned __int128)(b)) ^ u64(b < c);
}
SHARED_BY_BOTH u64 wide_division(u32 x) {
#ifdef WITHOUT_WIDE_DIVISION
  return x;
#else
  const __int128 a = ((__int128)(mixed(x)) * -0x123456789abcdef1ll << 31) + x, b = (__int128)(mixed(x + 1)) << 20 | 1;
  const unsigned __int128 c = (unsigned __int128)(a), d = (unsigned __int128)(x) << 40 | 3;
  return u64(a / b) ^ u64(a % b) ^ u64(c / d) ^ u64(c / d >> 64) ^ u64(c % d);
#endif
}

// Structures by value, bit fields, unions, arrays indexed at run time.
struct Fields {
  u32 a : 5, b : 11;
  i32 c : 7;
  u32 d : 9;
};
struct Big {
  u64 word[6];
  u8 byte[13];
  u16 half;
};
SHARED_BY_BOTH Big big(u32 x) {
  Big b{};
  for (int k = 0; k < 6; ++k) b.word[k] = u64(mixed(x + u32(k))) << (k * 5);
  for (int k = 0; k < 13; ++k) b.byte[k] = u8(x >> (k % 8));
  b.half = u16(x * 7);
  return b;
}
SHARED_BY_BOTH u64 folded(Big b, u32 at) {
  u64 r = b.word[at % 6] ^ b.byte[at % 13] ^ u64(b.half) << 48;
  b.word[(at + 1) % 6] = r;
  for (int k = 0; k < 6; ++k) r = r * 31 + b.word[k];
  return r;
}
SHARED_BY_BOTH u64 structures(u32 x) {
  Fields f;
  f.a = x, f.b = x >> 5, f.c = i32(x >> 16), f.d = x >> 23;
  union {
    u64 whole;
    u16 part[4];
  } u;
  u.whole = u64(mixed(x)) << 13;
  u.part[x % 4] = u16(f.b);
  return folded(big(x), x >> 2) + u64(f.a) + u64(i64(f.c)) + f.d + u.whole;
}

// Functions that call themselves and each other, through pointers and virtually.
SHARED_BY_BOTH u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
SHARED_BY_BOTH bool is_odd(u32 n);
SHARED_BY_BOTH bool is_even(u32 n) { return n == 0 || is_odd(n - 1); }
SHARED_BY_BOTH bool is_odd(u32 n) { return n != 0 && is_even(n - 1); }
SHARED_BY_BOTH u64 recursion(u32 x) { return ackermann(2, x % 4) + (is_even(x % 20) ? 100 : 0); }

SHARED_BY_BOTH u32 twice(u32 x) { return 2 * x; }
SHARED_BY_BOTH u32 square(u32 x) { return x * x; }
SHARED_BY_BOTH u32 flip(u32 x) { return ~x; }
SHARED_BY_BOTH u64 pointers(u32 x) {
  u32 (*const table[3])(u32) = {twice, square, flip};
  u32 r = x;
  for (u32 k = 0; k < 6; ++k) r = table[(mixed(x) >> 3 * k) % 3](r) + k;
  return r;
}

struct Shape {
  SHARED_BY_BOTH explicit Shape(u32 side) : side(side) {}
  virtual SHARED_BY_BOTH u32 area() const = 0;
  virtual SHARED_BY_BOTH u32 corners() const { return 0; }
  u32 side;
};
struct Square : Shape {
  using Shape::Shape;
  SHARED_BY_BOTH u32 area() const override { return side * side; }
  SHARED_BY_BOTH u32 corners() const override { return 4; }
};
struct Cube : Square {
  using Square::Square;
  SHARED_BY_BOTH u32 area() const override { return 6 * Square::area(); }
};
struct Ring : Shape {
  using Shape::Shape;
  SHARED_BY_BOTH u32 area() const override { return 3 * side; }
};
SHARED_BY_BOTH u64 virtuals(u32 x) {
  const Square square(x % 100);
  const Cube cube(x % 50);
  const Ring ring(x);
  const Shape* const shapes[3] = {&square, &cube, &ring};
  u64 r = 0;
  for (u32 k = 0; k < 4; ++k) {
    const Shape& s = *shapes[(x >> k) % 3];
    r = r * 1000 + s.area() + s.corners();
  }
  return r;
}

// Control flow: switches, nested loops with break and continue, goto, short circuits.
SHARED_BY_BOTH u64 control(u32 x) {
  u64 r = 0;
  for (u32 i = 0; i < 20; ++i) {
    switch (mixed(x + i) % 11) {
      case 0: r += 1; break;
      case 1: r ^= x; [[fallthrough]];
      case 2: r += i; break;
      case 3: continue;
      case 4: r = r << 3 | r >> 61; break;
      case 5:
        if (i > 15) goto out;
        break;
      case 6: r *= 7; break;
      case 7: r -= x; break;
      case 8: r = ~r; break;
      case 9:
        for (u32 k = 0; k < i; ++k) {
          if ((x >> k & 1) && r % 3 != 0) break;
          r += k;
        }
        break;
      default: r += (x & 1) && r > 5 ? 3 : 4;
    }
  }
out:
  return r;
}

// Local memory: a sort, a heap on a stack of one's own, bytes.
SHARED_BY_BOTH u64 local_arrays(u32 x) {
  u32 a[24];
  u8 text[40];
  for (u32 k = 0; k < 24; ++k) a[k] = mixed(x + k) % 1000;
  for (u32 i = 1; i < 24; ++i) {
    for (u32 k = i; k > 0 && a[k - 1] > a[k]; --k) {
      const u32 t = a[k];
      a[k] = a[k - 1], a[k - 1] = t;
    }
  }
  u32 length = 0;
  for (u64 n = u64(a[3]) * a[20] + x; n != 0; n /= 10) text[length++] = u8('0' + n % 10);
  u64 r = 0;
  for (u32 k = 0; k < 24; ++k) r = r * 1009 + a[k];
  for (u32 k = 0; k < length; ++k) r = r * 31 + text[length - 1 - k];
  return r;
}

// Floating point, exact on purpose: sums and products of small whole numbers, and conversions.
SHARED_BY_BOTH u64 exact_floats(u32 x) {
  float f = float(x % 1000);
  double d = double(i32(mixed(x)));
  f = f * 16.0f + 0.5f;
  d = d * 0.25 - 1e6;
  u64 r = u64(i64(d * 4.0)) + u64(i32(f)) + u64(u8(u32(f))) + u64(i64(float(i32(x))));
  r ^= f < 3000.0f ? 1 : 2;
  r += d > 0.0 ? u64(d) : u64(-d);
  const float zero = float(x % 2) * 0.0f, nan = zero / zero;
  r += (nan == nan) + 2 * (nan != nan) + 4 * (nan < 1.0f) + 8 * !(nan >= 1.0f);
  const double quotient = d / 3.0, root = double(x) / 7.0;
  const float single = f / 3.0f;
  union {
    double d[2];
    u64 bits[2];
  } u = {{quotient, root}};
  union {
    float f;
    u32 bits;
  } v = {single};
#ifdef APPROXIMATE_DIVISION
  v.bits = 0;
#endif
  return r ^ u.bits[0] ^ u.bits[1] ^ v.bits;
}

}  // namespace language
