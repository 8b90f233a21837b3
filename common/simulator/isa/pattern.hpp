// How the addresses of a full warp are arranged, and whether the warp may access all of them: found out with a few
// vector instructions, where 32 separate look-ups would cost most of a load's time.
#pragma once
#include "common/simulator/numbers.hpp"

#include <algorithm>
#include <cstring>

namespace cudasim {

// Memory in which any access is allowed.
struct Region {
  u64 begin, size;
  u64 host;  // address on the host - address, modulo 2^64
  bool holds(u64 address, u64 bytes) const { return size >= bytes && address - begin <= size - bytes; }
};

// How the addresses are arranged, if not in one row: all the same (point); ascending, or the same, in each of four
// groups of eight lanes (rows, points: tiles and broadcasts do that); or otherwise (scattered). outside: at least one
// lane may not access its address.
enum class Pattern : u8 { outside, point, rows, points, scattered };
constexpr u32 kGroups = 4, kGroup = 8;

template <class T>
struct GroupOf {
  typedef T type __attribute__((vector_size(kGroup * sizeof(T))));
  typedef u64 words __attribute__((vector_size(kGroup * sizeof(T))));
};

typedef long long TestedWords __attribute__((vector_size(32)));

// Whether of kRun lanes each, a group or all of them, every value is by kStep more than that of the lane before.
template <u32 kStep, u32 kRun, class Value>
inline bool in_steps(const Value* values) {
  using Group = typename GroupOf<Value>::type;
  using Words = typename GroupOf<Value>::words;
  constexpr Group steps = {0, kStep, 2 * kStep, 3 * kStep, 4 * kStep, 5 * kStep, 6 * kStep, 7 * kStep};
  if (values[kRun - 1] - values[0] != Value{kStep} * (kRun - 1)) return false;
  Group wrong = {};
  for (u32 g = 0; g < kGroups; ++g) {
    Group group;
    std::memcpy(&group, values + g * kGroup, sizeof group);
    wrong |= (group - values[g * kGroup / kRun * kRun]) ^ (steps + Value{kStep} * (g * kGroup % kRun));
  }
  const Words words = (Words)wrong;
#if defined(__AVX__)
  if constexpr (sizeof words == 32) return __builtin_ia32_ptestz256((TestedWords)words, (TestedWords)words) != 0;
#endif
  u64 any = 0;
  for (u32 w = 0; w < sizeof words / sizeof any; ++w) any |= words[w];
  return any == 0;
}

// `kRun` lanes from `first` to `last` touch kBytes each, kStride apart: whether they may.
template <u32 kBytes, u32 kStride, u32 kRun>
inline bool may_touch(const Region& region, u64 first, u64 last) {
  constexpr u64 kWidth = u64{kStride} * (kRun - 1);
  return last - first == kWidth && region.holds(first, kWidth + kBytes) && first % kBytes == 0;
}

// Whether each value is by kStep, and the address by kStride, more than that of the lane before.
template <u32 kBytes, u32 kStep, u32 kStride, class Where>
inline Pattern in_groups(const Where& where, const Region& region) {
  if (kStride == 0 && in_steps<0, kWarpSize>(where.values)) {
    return may_touch<kBytes, 0, kWarpSize>(region, where[0], where[0]) ? Pattern::point : Pattern::outside;
  }
  if (!in_steps<kStep, kGroup>(where.values)) return Pattern::scattered;
  for (u32 g = 0; g < kWarpSize; g += kGroup) {
    if (!may_touch<kBytes, kStride, kGroup>(region, where[g], where[g + kGroup - 1])) return Pattern::outside;
  }
  return kStride == 0 ? Pattern::points : Pattern::rows;
}

// Addresses in no order. Those that wrap around are outside.
template <u32 kBytes, class Where>
[[gnu::noinline]] Pattern scattered(const Where& where, const Region& region) {
  using Value = typename Where::Value;
  Value least = ~Value{0}, most = 0, all = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    const Value value = where.values[lane];
    least = std::min(least, where.rank(value));
    most = std::max(most, where.rank(value));
    all |= where.low(value);
  }
  const u64 low = where.of(least), high = where.of(most);
  const bool inside = low <= high && region.holds(low, kBytes) && region.holds(high, kBytes) && all % kBytes == 0;
  return inside ? Pattern::scattered : Pattern::outside;
}

// Each lane touches kBytes.
template <u32 kBytes, class Where>
[[gnu::noinline]] Pattern pattern_of(const Where& where, const Region& region) {
  using Value = typename Where::Value;
  constexpr u32 kStep = Where::kIndexed ? 1 : kBytes;
  const Value step = where.values[1] - where.values[0];
  Pattern found = Pattern::scattered;
  if (step == 0) found = in_groups<kBytes, 0, 0>(where, region);
  if (step == kStep && where.scale * kStep == kBytes) found = in_groups<kBytes, kStep, kBytes>(where, region);
  return found == Pattern::scattered ? scattered<kBytes>(where, region) : found;
}

// Whether the lanes may touch one contiguous row, as most instructions do.
template <u32 kBytes, class Where>
[[gnu::always_inline]] inline bool is_row(const Where& where, const Region& region) {
  constexpr u32 kStep = Where::kIndexed ? 1 : kBytes;
  if (Where::kIndexed && where.scale != kBytes) return false;
  if (!in_steps<kStep, kWarpSize>(where.values)) return false;
  return may_touch<kBytes, kBytes, kWarpSize>(region, where[0], where[kWarpSize - 1]);
}

// For the lanes of a mask: whether all are inside and aligned.
template <u32 kBytes, class Where>
inline bool inside(const Where& where, const Region& region, u32 mask) {
  u64 least = ~u64{0}, most = 0, all = 0;
  for (const u32 lane : set_bits(mask)) {
    const u64 address = where[lane];
    least = std::min(least, address);
    most = std::max(most, address);
    all |= address;
  }
  return region.holds(least, kBytes) && region.holds(most, kBytes) && all % kBytes == 0;
}

}  // namespace cudasim
