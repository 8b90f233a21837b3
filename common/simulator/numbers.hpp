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

// f(lane) for each lane of the mask, in order.
template <class F>
void each_lane(u32 mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<u32>(__builtin_ctz(mask)));
}

}  // namespace cudasim
