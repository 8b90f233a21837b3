// How comparisons read the values of each type. PTX ISA, "Comparison and Selection Instructions". Handlers
// (compare.cpp) and compiled kernels (compile/) include it.
#pragma once
#include "common/simulator/isa/floats.hpp"

#include <type_traits>

namespace cudasim::comparison {

// How each type is read: what can be compared with < and ==.
template <class T>
struct Plain {
  using Memory = T;
  static T load(T x) { return x; }
};
struct FlushedFloat {
  using Memory = float;
  static float load(float x) { return flush(x); }
};
template <u32 kHalf, bool kFlush>
struct HalfAt {  // half kHalf of a pair (2: there is one value only)
  using Memory = std::conditional_t<kHalf == 2, u16, u32>;
  static float load(Memory x) {
    const u16 h = kHalf == 2 ? u16(x) : u16(x >> (kHalf == 1 ? 16 : 0));
    return from_f16(kFlush && (h & 0x7c00u) == 0 ? h & 0x8000u : h);
  }
};
template <u32 kHalf>
struct BfHalfAt {
  using Memory = std::conditional_t<kHalf == 2, u16, u32>;
  static float load(Memory x) { return from_bf16(u16(x >> (kHalf == 1 ? 16 : 0))); }
};

}  // namespace cudasim::comparison
