// What the kernels of language.cu's end and of library.cu are to give, computed plainly on the host: thread `i` of
// blocks of 128.
#pragma once
#include "tests/compilers/sources/language.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace library {

using language::u16;
using language::u32;
using language::u64;
using language::u8;
using i32 = int;

constexpr u32 kBlock = 128;
inline const u32* block_of(const u32* in, u32 i) { return in + i / kBlock * kBlock; }

inline u64 together(const u32* in, u32 i) {
  static constexpr u32 kWeights[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                                       2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
  const u32* b = block_of(in, i);
  u32 sum = 0;
  for (u32 k = 0; k < kBlock; ++k) sum += b[k] * kWeights[k % 32];
  const u32 mirrored = b[kBlock - 1 - i % kBlock] * kWeights[(kBlock - 1 - i % kBlock) % 32];
  const u32 last = b[kBlock - 1] * kWeights[(kBlock - 1) % 32];
  return (u64(sum) + 40 + 11) * 3 + std::max(sum, last) + mirrored + 13;
}

inline u64 math_double(const u32* in, u32 i) {
  const double x = double(in[i] % 1000) / 100 + 0.5;
  const double r = std::sin(x) + std::cos(x) * std::exp(-x) + std::log(x) + std::pow(x, 1.5) + std::sqrt(x) +
                   std::cbrt(x) + std::atan2(x, 2.0) + std::tanh(x) + std::erf(x) + std::tgamma(std::fmin(x, 5.0)) +
                   std::lgamma(x) + std::fmod(x, 0.7) + std::hypot(x, 3.0) + std::floor(x) + std::rint(x) +
                   std::asinh(x) + ::j0(x) + 0.5 * std::erfc(-x / 10 / std::sqrt(2.0)) + std::remainder(x, 0.3) +
                   std::ldexp(x, 3) + std::sin(3.14159265358979323846 * x);
  return u64(std::llrint(r * 1e6));
}
inline u64 math_float(const u32* in, u32 i) {
  const float f = float(in[i] % 1000) / 100 + 0.5f;
  const double x = f;
  const double r = std::sin(x) + std::cos(x) * std::exp(-x) + std::log(x) + std::pow(x, 1.5) + std::sqrt(x) +
                   std::cbrt(x) + std::atan2(x, 2.0) + std::tanh(x) + std::erf(x) + std::fmod(x, 0.75) +
                   std::hypot(x, 3.0) + std::floor(x) + std::rint(x) + std::exp2(double(f / 3)) + std::log10(x) +
                   1 / std::sqrt(x) + std::sin(double(f * 1e5f));
  return u64(std::llrint(r * 100));
}
inline u64 half_precision(const u32* in, u32 i) {
  const u64 a = in[i] % 64, c = in[i] % 16, e = in[i] % 13, f = in[i] % 5;
  const auto to_half = [](double x) {  // whole numbers below 4096, to eleven bits, ties to even
    if (x < 2048) return x;
    return std::nearbyint(x / 2) * 2;
  };
  const auto to_bf16 = [](double x) {  // eight bits
    int e = 0;
    std::frexp(x, &e);
    const double unit = std::ldexp(1.0, e - 8);
    return x == 0 ? 0 : std::nearbyint(x / unit) * unit;
  };
  const double q = to_half(double(a * a) + 1);
  const u64 sum = u64(float(q) + 4 * 1.25f);
  const u64 bf = u64(to_bf16(to_bf16(double(c * c)) + double(c)));
  const double m = a == 0 ? 0 : double(a);
  const u64 root = u64(std::nearbyint(std::sqrt(to_half(double(a * a)))));
  return sum + bf * 100000 + e * 100000000 + f * 10000000000 + u64(m) + (a >= 1) + root;
}

inline u32 reversed(u32 x) {
  u32 r = 0;
  for (u32 k = 0; k < 32; ++k) r |= (x >> k & 1) << (31 - k);
  return r;
}
inline u64 intrinsics(const u32* in, u32 i) {
  const u32 x = in[i], y = x * 2654435761u;
  const auto bytes = [](u32 a, u32 b, auto f) {
    u32 r = 0;
    for (u32 k = 0; k < 32; k += 8) r |= u32(u8(f(u8(a >> k), u8(b >> k)))) << k;
    return r;
  };
  const auto clz = [](u64 v, int bits) {
    int n = 0;
    while (n < bits && (v >> (bits - 1 - n) & 1) == 0) ++n;
    return u32(n);
  };
  u32 ffs = 0;
  for (u32 k = 0; k < 32 && ffs == 0; ++k) ffs = (y >> k & 1) ? k + 1 : 0;
  const u64 both = u64(y) << 32 | x;
  u32 permuted = 0;
  for (u32 k = 0; k < 4; ++k) permuted |= u32(both >> 8 * (0x2735 >> 4 * k & 7) & 0xff) << 8 * k;
  const u32 funnel = x % 32 == 0 ? y : y << x % 32 | x >> (32 - x % 32);
  u32 r = u32(std::bitset<32>(x).count()) + clz(y, 32) + reversed(x) % 1001 + ffs + permuted + funnel;
  const auto smax = [&](u32 a, u32 b) { return u16(std::max(i32(int16_t(a)), i32(int16_t(b)))); };
  u32 dot = 7;
  for (u32 k = 0; k < 32; k += 8) dot += u32(u8(x >> k)) * u8(y >> k);
  r ^= bytes(x, y, [](u8 a, u8 b) { return a + b; }) + (u32(smax(x, y)) | u32(smax(x >> 16, y >> 16)) << 16) +
       bytes(x, y, [](u8 a, u8 b) { return a > b ? a - b : b - a; }) + dot + u32(u64(x) * y >> 32) +
       (u32(std::abs(std::int64_t(i32(x)) - i32(y))) + 3);
  const auto low24 = [](u32 a) { return i32(a << 8) >> 8; };
  r += u32((u64(x) + y) >> 1) + u32(low24(x)) * u32(low24(y)) +
       bytes(x, y, [](u8 a, u8 b) { return a > b ? 0xff : 0; }) + u32(u64(std::int64_t(i32(x)) * i32(y)) >> 32);
  const u64 wide = u64(x) << 20 | y;
  const u64 back = u64(reversed(u32(wide))) << 32 | reversed(u32(wide >> 32));
  const u64 high = u64((unsigned __int128)(u64(x) << 32) * (u64(y) << 31) >> 64);
  return r + (back ^ high) + clz(x, 64);
}
inline u64 inline_ptx(const u32* in, u32 i) {
  const u32 x = in[i];
  return u64(x ^ x >> 3 ^ 12345u) + (x >> 5 & 0x7ff) + u32(x > 1000 ? 5 + x : 5) + i % 32 +
         (u64(x) * 77 + (u64(x) << 7));
}
inline u64 groups(const u32* in, u32 i) {
  const u32 *warp = in + i / 32 * 32, *tile = in + i / 8 * 8;
  const auto at = [](const u32* p, u32 k) { return p[k] % 1000; };
  u32 sum = 0, most = 0, before = 0, active = 0, first = ~0u, same = 0, large = 0, part = 0;
  for (u32 k = 0; k < 32; ++k) {
    sum += at(warp, k);
    if (at(warp, k) % 3 == 0) ++active, first = first == ~0u ? at(warp, k) : first;
    if (at(warp, k) % 4 == at(warp, i % 32) % 4) same |= 1u << k;
    if (at(warp, k) > 500) large |= 1u << k;
    part += at(warp, k) % 3 == at(warp, i % 32) % 3;
  }
  for (u32 k = 0; k < 8; ++k) {
    most = std::max(most, at(tile, k));
    if (k < i % 8) before += at(tile, k);
  }
  u64 r = sum + u64(most) * 100000 + u64(before) * 10000000000;
  if (at(warp, i % 32) % 3 == 0) r += active + first;
  r += at(tile, (i % 8) ^ 3) + same % 1000 + large % 7;
  return r + part * 3 + part + i % kBlock;
}
inline u64 large_groups(const u32* in, u32 i) {
  const u32* tile = in + i / 64 * 64;
  u32 sum = 0, until = 0;
  bool any = false, all = true;
  for (u32 k = 0; k < 64; ++k) {
    const u32 x = tile[k] % 1000;
    sum += x, any |= x == 0, all &= x < 999;
    if (k <= i % 64) until += x;
  }
  const u64 answers = (any ? 7 : 0) + (all ? 9 : 0);
  return sum + tile[40] % 1000 * 100000ull + until * 1000000000ull + answers + i % kBlock / 64 * 3;
}
inline u64 cub_block(const u32* in, u32 i) {
  const u32* b = block_of(in, i);
  std::vector<u32> x(kBlock);
  for (u32 k = 0; k < kBlock; ++k) x[k] = b[k] % 10007;
  u32 total = 0, before = 0, warp = 0;
  for (u32 k = 0; k < kBlock; ++k) {
    total += x[k];
    if (k < i % kBlock) before += x[k];
    if (k / 32 == i % kBlock / 32) warp = std::max(warp, x[k]);
  }
  std::sort(x.begin(), x.end());
  return u64(total) + before * 3ull + x[i % kBlock] * 1000003ull + warp * 7ull;
}
inline u64 atomics(const u32* in, u32 i) {
  const u32* b = block_of(in, i);
  u64 sum = 0, squares = 0;
  u32 most = 0;
  for (u32 k = 0; k < kBlock; ++k) {
    const u32 x = b[k] % 1000;
    sum += x, squares += x * x, most = std::max(most, x);
  }
  return sum + most + squares + sum + kBlock;
}
inline u64 barriers(const u32* in, u32 i) {
  const u32* b = block_of(in, i);
  return u64(b[kBlock - 1 - i % kBlock]) * 3 + b[i % kBlock ^ 1];
}
inline u64 pipelines(const u32* in, u32 i) {
  const u32 count = 3 * kBlock;
  u64 r = 0;
  for (u32 k = 0; k < 4; ++k) r = r * 3 + in[(i + k * kBlock) % count];
  return r + block_of(in, i)[kBlock - 1 - i % kBlock];
}
inline u64 matrix(const u32* in, u32 i) {
  const auto element = [&](u32 at) {
    const u32 row = at / 16, column = at % 16;
    u64 sum = 2;
    for (u32 k = 0; k < 16; ++k) sum += u64(in[row * 16 + k] % 8) * (in[255 - (column * 16 + k)] % 8);
    return sum * 2;
  };
  return element(i % kBlock) + element(kBlock + i % kBlock) * 100000;
}
inline u64 dynamic_shared(const u32* in, u32 i) {
  const u32* b = block_of(in, i);
  const u32 at = (i % kBlock + 5) % kBlock;
  return u64(b[at]) + b[(at + 1) % kBlock];
}
inline u64 heap(const u32* in, u32 i) {
  u64 r = 0;
  for (u32 k = 5; k-- > 0;) r = r * 3 + (in[i] + k);
  return r + u8(in[i]);
}
inline u64 standard(const u32* in, u32 i) {
  const int x = int(in[i] % 10);
  const u32 a3 = in[i] % 5, most = std::max(4u, a3);
  return u64(double(x * x - 4 + x) + 1000) + u64(4 * x + 2) * 10000 + (u64(a3) + most) * 1000000;
}

}  // namespace library
