// What the C++ that compile/ writes is made of. The generated text defines three numbers, includes this file, and has
// no other header; so has none of the files included here, except for a few small ones of the C++ library.
#pragma once
#include "common/simulator/exec/compiled.hpp"
#include "common/simulator/exec/registers.hpp"
#include "common/simulator/isa/comparison.hpp"
#include "common/simulator/isa/conversions.hpp"
#include "common/simulator/isa/float_operations.hpp"
#include "common/simulator/isa/integers.hpp"
#include "common/simulator/isa/logic.hpp"

namespace cudasim {

// A row is a part of a warp: see compile/flow.hpp.
constexpr u32 kRow = kWarpSize / kRows, kRowLanes = kRows == 1 ? kAllLanes : (1u << kRow % 32) - 1;
constexpr u32 row_begin(u32 row) { return row * kRow % kWarpSize; }

// One value for each row of a warp.
template <class T>
struct Each {
  T value[kRows];
  T operator[](u32 row) const { return value[row]; }
};
template <class T, class F>
inline Each<T> each(F f) {
  Each<T> all;
  for (u32 row = 0; row < kRows; ++row) all.value[row] = f(row);
  return all;
}

template <class To, class From>
inline To as(From value) {
  return __builtin_bit_cast(To, value);
}

template <class T>
struct Raw {
  typedef T type __attribute__((may_alias));
  typedef T unaligned __attribute__((may_alias, aligned(1)));
};
// Lane 0 of a register or a constant.
template <class T>
inline typename Raw<T>::type* at(std::byte* base, u32 slot) {
  return reinterpret_cast<typename Raw<T>::type*>(base + slot);
}
template <class T>
inline const typename Raw<T>::type* at(const std::byte* base, u32 slot) {
  return reinterpret_cast<const typename Raw<T>::type*>(base + slot);
}
template <class T>
inline T load(u64 host) {
  return *reinterpret_cast<const typename Raw<T>::unaligned*>(host);
}
template <class T>
inline void store(u64 host, T value) {
  *reinterpret_cast<typename Raw<T>::unaligned*>(host) = value;
}

// The first if the lowest bit is set. Without a branch, so that loops over lanes become vector code.
template <u32 kBytes>
struct Bits;
template <>
struct Bits<1> {
  using type = u8;
};
template <>
struct Bits<2> {
  using type = u16;
};
template <>
struct Bits<4> {
  using type = u32;
};
template <>
struct Bits<8> {
  using type = u64;
};
template <class T>
inline T pick(u32 bit, T a, T b) {
  using Word = typename Bits<sizeof(T)>::type;
  const Word set = Word(0) - Word(bit & 1);
  return as<T>(Word((as<Word>(a) & set) | (as<Word>(b) & ~set)));
}

// Whether a generic address is one of local memory.
inline bool is_local(u64 address) { return address - kLocalWindow < kWindowBytes; }

// A loop over the lanes: `lane` of the warp, `place` in its row.
#if defined(__clang__)
#define CUDASIM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define CUDASIM_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define CUDASIM_LANES \
  for (u32 row = 0; row < kRows; ++row) CUDASIM_INDEPENDENT for (u32 place = 0; place < kRow; ++place)

// Writes a register whose lanes have first + place * stride.
template <class T>
[[gnu::noinline]] void spill(std::byte* to, Each<T> first, T stride) {
  T* d = reinterpret_cast<T*>(to);
  for (u32 row = 0; row < kRows; ++row) {
    for (u32 place = 0; place < kRow; ++place) d[row * kRow + place] = T(first[row] + T(place) * stride);
  }
}
template <class T>
[[gnu::noinline]] bool in_steps(const T* a, T stride) {
  T wrong = 0;
  for (u32 row = 0; row < kRows; ++row) {
    for (u32 place = 0; place < kRow; ++place) wrong |= T(a[row * kRow + place] ^ T(a[row * kRow] + T(place) * stride));
  }
  return wrong == 0;
}
// Reads one; false if its lanes are not like that. `tidy`: they are.
template <class T>
inline bool take(const std::byte* from, Each<T>& first, T stride, bool tidy) {
  const T* a = reinterpret_cast<const T*>(from);
  for (u32 row = 0; row < kRows; ++row) first.value[row] = a[row * kRow];
  return tidy || in_steps(a, stride);
}
// Whether the lanes of each row have the same bit.
inline bool even(u32 mask) {
  bool is = true;
  for (u32 row = 0; row < kRows; ++row) {
    const u32 lanes = mask >> row_begin(row) & kRowLanes;
    is &= lanes == 0 || lanes == kRowLanes;
  }
  return is;
}

// Whether first + place * kStride stays within T for a whole row.
template <class T, i64 kStride>
inline bool steady(Each<std::make_unsigned_t<T>> first) {
  bool is = true;
  for (u32 row = 0; row < kRows; ++row) {
    const i64 last = i64(T(first[row])) + kStride * (kRow - 1);
    is &= last == i64(T(last));
  }
  return is;
}

// Whether the lanes may access kWidth bytes each in a stretch of memory, in pieces of kBytes: the first and the last
// lane of each row may.
template <u32 kBytes, u64 kWidth, i64 kStride>
inline bool within(u64 begin, u64 size, Each<u64> first) {
  bool is = size >= kWidth;
  for (u32 row = 0; row < kRows; ++row) {
    const u64 low = first[row] - begin, high = low + u64(kStride) * (kRow - 1);
    is &= low <= size - kWidth && high <= size - kWidth && first[row] % kBytes == 0;
  }
  return is;
}

// Which relations hold: 1 less, 2 equal, 4 greater, 8 unordered (isa/compare.cpp).
template <u32 kRelations, class T>
inline bool holds(T a, T b) {
  constexpr bool kInteger = std::is_integral_v<T>;
  constexpr u32 r = kRelations & (kInteger ? 7 : 15), rest = ~kRelations & (kInteger ? 7 : 15);
  if constexpr (r == 0)
    return false;
  else if constexpr (r == 1)
    return a < b;
  else if constexpr (r == 2)
    return a == b;
  else if constexpr (r == 4)
    return a > b;
  else if constexpr (!kInteger && r == 3)
    return a <= b;
  else if constexpr (!kInteger && r == 6)
    return a >= b;
  else if constexpr (!kInteger && r == 5)
    return (a < b) | (a > b);
  else if constexpr (!kInteger && r == 8)
    return (a != a) | (b != b);
  else
    return !holds<rest>(a, b);
}

// The lanes for which the relation holds between a + place * kStepA and b + place * kStepB.
template <class How, u32 kRelations, i64 kStepA, i64 kStepB, class T>
inline u32 related(Each<T> a, Each<T> b) {
  using Value = typename How::Memory;
  u32 lanes = 0;
  for (u32 row = 0; row < kRows; ++row) {
    if constexpr (kStepA == 0 && kStepB == 0) {
      if (holds<kRelations>(How::load(as<Value>(a[row])), How::load(as<Value>(b[row]))))
        lanes |= kRowLanes << row_begin(row);
    } else {
      const auto holds_at = [&](u32 place) {
        return holds<kRelations>(Value(T(a[row] + T(kStepA) * T(place))), Value(T(b[row] + T(kStepB) * T(place))));
      };
      // If neither side wraps, a - b only grows or only shrinks: a row whose ends agree agrees as a whole.
      constexpr u32 r = kRelations & 7;
      constexpr bool kOrder = r == 1 || r == 3 || r == 4 || r == 6;
      const __int128 last_a = __int128(Value(a[row])) + kStepA * i64(kRow - 1);
      const __int128 last_b = __int128(Value(b[row])) + kStepB * i64(kRow - 1);
      const bool steady = last_a == __int128(Value(last_a)) && last_b == __int128(Value(last_b));
      if (kOrder && steady && holds_at(0) == holds_at(kRow - 1)) {
        if (holds_at(0)) lanes |= kRowLanes << row_begin(row);
      } else {
        for (u32 place = 0; place < kRow; ++place) lanes |= u32{holds_at(place)} << (row * kRow + place);
      }
    }
  }
  return lanes;
}

// Which indices of a scattered access are inside and aligned: `first` and the `most` behind it. The host has the first
// at `host`. With index x in a lane, the lane's offset is u32(x) - first, and neither it nor most - offset is negative
// if the lane may access its place.
struct Range {
  u64 host = 0;
  u32 first = 0, most = 0;
  bool good = false;
};
template <u32 kBytes, u64 kScale, class Index>
inline Range range_of(u64 base, u64 begin, u64 size, u64 delta) {
  constexpr i64 kFar = i64{1} << 60, kScaled = kScale;
  constexpr i64 kLeast = std::is_signed_v<Index> ? -(i64{1} << 31) : 0;
  constexpr i64 kMost = std::is_signed_v<Index> ? (i64{1} << 31) - 1 : (i64{1} << 32) - 1;
  const i64 behind = i64(begin - base);  // the region, behind index 0
  if (size < kBytes || size > u64(kFar) || behind > kFar || behind < -kFar || base % kBytes != 0) return {};
  const i64 up = behind + kScaled - 1, end = behind + i64(size - kBytes);
  i64 low = up >= 0 ? up / kScaled : -((-up + kScaled - 1) / kScaled);  // rounded down, as `end` is below
  i64 high = end >= 0 ? end / kScaled : -((-end + kScaled - 1) / kScaled);
  low = low < kLeast ? kLeast : low;
  high = high > kMost ? kMost : high;
  if (high < low) return {};
  constexpr i64 kWidest = (i64{1} << 31) - 1;
  return {base + u64(low) * kScale + delta, u32(low), u32(high - low < kWidest ? high - low : kWidest), true};
}

// Whether the offsets of the lanes in the mask grow by kStep from lane to lane. Lanes that have diverged often access a
// row of which the others would access the rest.
template <u32 kStep, class Offset>
inline bool in_row(const Offset* offsets, u32 lanes) {
  const u32 first = u32(__builtin_ctz(lanes)), last = 31 - u32(__builtin_clz(lanes));
  const Offset begin = offsets[first] - Offset(first) * kStep;
  if (offsets[last] != Offset(begin + Offset(last) * kStep)) return false;
  Offset wrong = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane)
    wrong |= Offset(offsets[lane] ^ Offset(begin + Offset(lane) * kStep)) & -Offset(lanes >> lane & 1);
  return wrong == 0;
}

// to = what is at host + offset * kScale. Lanes next to each other with one address get one value, even if another
// thread writes there at this moment.
template <class M, u64 kScale, class R, class Offset>
[[gnu::noinline]] void gather(R* to, u64 host, const Offset* offsets, u32 lanes = kAllLanes) {
  if (lanes == 0) return;
  const u32 first = u32(__builtin_ctz(lanes)), last = 31 - u32(__builtin_clz(lanes));
  if constexpr (sizeof(M) % kScale == 0) {
    if (first != last && in_row<sizeof(M) / kScale>(offsets, lanes)) {  // what lies between them may be read, too
      const u64 from = host + u64(offsets[first]) * kScale - first * sizeof(M);
      for (u32 lane = first; lane <= last; ++lane)
        to[lane] = pick<R>(lanes >> lane, R(load<M>(from + lane * sizeof(M))), to[lane]);
      return;
    }
  }
  Offset before = ~offsets[first];
  R value = 0;
  for (u32 rest = lanes; rest != 0; rest &= rest - 1) {
    const u32 lane = u32(__builtin_ctz(rest));
    const Offset offset = offsets[lane];
    const R own = R(load<M>(host + u64(offset) * kScale));
    value = offset == before ? value : own;
    before = offset;
    to[lane] = value;
  }
}

// Whether the lanes have one value.
template <class T>
inline bool alike(const T* values, u32 lanes = kAllLanes) {
  const auto one = values[__builtin_ctz(lanes)];
  if (values[31 - __builtin_clz(lanes)] != one) return false;
  u64 wrong = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane) wrong |= u64(values[lane] ^ one) & -u64(lanes >> lane & 1);
  return wrong == 0;
}

// Copies the lanes of a register.
template <class T, class U>
[[gnu::noinline]] void put(T* to, const U* from, u32 lanes = kAllLanes) {
  for (u32 lane = 0; lane < kWarpSize; ++lane) to[lane] = pick<U>(lanes >> lane, from[lane], to[lane]);
}

// One bit a lane, of words that are 0 or -1. (With bytes, g++ would make 32 lanes of a loop one step, and spill.)
inline u32 gathered(const i32* words) {
  u32 lanes = 0;
#if defined(__AVX__)
  typedef float Words __attribute__((vector_size(32), may_alias));
  for (u32 part = 0; part < 4; ++part)
    lanes |= u32(__builtin_ia32_movmskps256(reinterpret_cast<const Words*>(words)[part])) << 8 * part;
#else
  for (u32 lane = 0; lane < kWarpSize; ++lane) lanes |= u32(words[lane] & 1) << lane;
#endif
  return lanes;
}

}  // namespace cudasim
