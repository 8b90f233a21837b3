// Elements of matrices: what their bits mean, and a sum's bits.
#pragma once
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/row.hpp"

#include <array>

namespace cudasim {

// The numbers that the 256 elements of a format stand for.
template <const Format& format>
double short_float(u64 raw) {
  static const std::array<double, 256> numbers = [] {
    std::array<double, 256> all;
    for (u32 i = 0; i < all.size(); ++i) all[i] = decode(i, format);
    return all;
  }();
  return numbers[raw & 0xff];
}

inline double value(Type type, u64 raw) {
  switch (type) {
    case Type::f16: return from_f16(u16(raw));
    case Type::bf16: return from_bf16(u16(raw));
    case Type::tf32: return float_of(u32(raw) & ~0x1fffu);  // the lowest 13 bits are not looked at
    case Type::f32: return float_of(u32(raw));
    case Type::f64: return double_of(raw);
    case Type::e4m3: return short_float<kE4m3>(raw);
    case Type::e5m2: return short_float<kE5m2>(raw);
    default: return 0;
  }
}
inline i32 integer(Type type, u32 raw) {
  switch (type) {
    case Type::s8: return i8(raw);
    case Type::s4: return i32(raw << 28) >> 28;
    default: return i32(raw);
  }
}

inline u64 code(Type type, double x) {
  if (type == Type::f64) return bits_of(x);
  if (type == Type::f16) return to_f16(odd_float(x));
  return bits_of(canonical(float(x)));
}

// The address operand of ldmatrix, stmatrix, wmma.load and wmma.store, as the lowest five bits of
// Instruction::control.
struct MatrixMemory {
  Space space;
  bool narrow;  // a 32-bit base register
};
inline u32 packed_memory(const Form& form) { return u32(form.space) | u32{form.address_bytes == 4} << 4; }
inline MatrixMemory unpacked_memory(u32 control) { return {Space(control & 15), (control >> 4 & 1) != 0}; }

}  // namespace cudasim
