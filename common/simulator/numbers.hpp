// Small arithmetic on numbers and masks that several parts need.
#pragma once
#include "common/simulator/types.hpp"

#include <cstdio>
#include <string>

namespace cudasim {

constexpr u64 round_up(u64 value, u64 unit) { return (value + unit - 1) / unit * unit; }

inline std::string hex(u64 value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// The bits that are set, the lowest first: for (const u32 lane : set_bits(mask)) …
struct SetBits {
  struct Iterator {
    u32 rest;
    u32 operator*() const { return static_cast<u32>(__builtin_ctz(rest)); }
    Iterator& operator++() { return rest &= rest - 1, *this; }
    bool operator!=(const Iterator& other) const { return rest != other.rest; }
  };
  u32 mask;
  Iterator begin() const { return {mask}; }
  Iterator end() const { return {0}; }
};
inline SetBits set_bits(u32 mask) { return {mask}; }

// Of the blocks of a grid or the threads of a block, counted along x first, where one is.
inline Dim3 place_in(u64 number, Dim3 size) {
  return {static_cast<u32>(number % size.x), static_cast<u32>(number / size.x % size.y),
          static_cast<u32>(number / size.x / size.y)};
}

inline u32 first_lane(u32 mask) { return static_cast<u32>(__builtin_ctz(mask)); }

// Those lanes of a mask for which holds(lane) is true.
template <class F>
u32 lanes_where(u32 mask, F holds) {
  u32 result = 0;
  for (const u32 lane : set_bits(mask)) result |= u32{holds(lane)} << lane;
  return result;
}

}  // namespace cudasim
