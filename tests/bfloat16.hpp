// Elements in bfloat16, as the checks make and read them.
#pragma once
#include <cstdint>
#include <cstring>

// Of a number that bfloat16 represents exactly.
inline std::uint16_t bfloat16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

inline float from_bfloat16(std::uint16_t element) {
  const std::uint32_t bits = std::uint32_t{element} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
