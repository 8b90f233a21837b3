// What a program's CUtensorMap holds: a tensor in global memory, and what part of it one copy moves. The 128 bytes
// are opaque; here they are a TensorMap, as it is.
#pragma once
#include "common/simulator/types.hpp"

#include <algorithm>
#include <iterator>

namespace cudasim {

enum class Swizzle : u8 { none, bytes_32, bytes_64, bytes_128 };

struct alignas(64) TensorMap {
  // Anything else is no tensor map. Of small tensors' maps, CUTLASS and Triton clear bit 21 of the second word, on
  // account of an error in drivers before CUDA 13.2: here it means nothing.
  static constexpr u64 kMark = 0x7065'6d72'6f53'6e65u;
  static_assert((kMark >> 21 & 1) == 0);
  static constexpr u32 kMostDimensions = 5;

  u64 address = 0;
  u64 mark = kMark;
  u64 stride[kMostDimensions - 1] = {};  // bytes from one to the next, of the second dimension on
  u32 size[kMostDimensions] = {};        // elements, minus one: 2^32 is allowed
  u16 box[kMostDimensions] = {};         // elements
  u8 step[kMostDimensions] = {};         // only every so manieth of the box is copied
  u8 dimensions = 0;
  Type type = Type::none;  // u8, u16, u32, s32, u64, s64, f16, bf16, f32, f64
  Swizzle swizzle = Swizzle::none;
  bool round = false;     // f32 becomes tf32 on its way to shared memory
  bool fill_nan = false;  // what lies outside is a NaN, not zero
  u8 interleave = 0;      // 16 or 32: what is counted in the first dimension are as many bytes, whatever the type
  // A box of im2col is a number of pixels, of box[0] channels each, in the order in which they lie within bounds that
  // are so far from the tensor's own, in each dimension between the first and the last.
  bool im2col = false;
  bool wide = false;  // of cuTensorMapEncodeIm2colWide, for copies that compute capability 9.0 does not have
  u16 pixels = 0;
  i16 lower[kMostDimensions - 2] = {}, upper[kMostDimensions - 2] = {};

  // What tensormap.replace makes of 128 bytes of zeros, with which compilers begin maps of their own: one byte.
  static TensorMap of_zeros() {
    TensorMap map;
    std::fill(std::begin(map.box), std::end(map.box), u16{1});
    std::fill(std::begin(map.step), std::end(map.step), u8{1});
    map.dimensions = 1;
    map.type = Type::u8;
    return map;
  }

  u32 element() const { return interleave != 0 ? interleave : bytes(type); }
};
static_assert(sizeof(TensorMap) == 128);

}  // namespace cudasim
