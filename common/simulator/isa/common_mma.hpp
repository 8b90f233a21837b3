// mma.m16n8k16 with operands of half precision and sums of single precision: most kernels multiply with this shape. Its
// constants make it several times as fast as the handler for all shapes in matrix.cpp, which has the same results.
#pragma once
#include "common/simulator/exec/access.hpp"
#include "common/simulator/isa/elements.hpp"
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>

namespace cudasim {

template <Type kType>
void run_common_mma(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Slot *d = i.wide ? i.wide : i.slot, *of_a = d + 4, *of_b = d + 8, *of_c = d + 10;
  double a[4][2][kWarpSize], b[16][8], c[16][8];  // a: as the registers have it
  for (u32 r = 0; r < 4; ++r) {
    const u32* words = warp.in<u32>(of_a[r]);
    for (u32 lane = 0; lane < kWarpSize; ++lane) a[r][0][lane] = value(kType, words[lane] & 0xffff);
    for (u32 lane = 0; lane < kWarpSize; ++lane) a[r][1][lane] = value(kType, words[lane] >> 16);
  }
  for (u32 r = 0; r < 2; ++r) {
    const u32* words = warp.in<u32>(of_b[r]);
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      const u32 k = lane % 4 * 2 + 8 * r;
      b[k][lane / 4] = value(kType, words[lane] & 0xffff), b[k + 1][lane / 4] = value(kType, words[lane] >> 16);
    }
  }
  for (u32 e = 0; e < 4; ++e) {
    const u32* words = warp.in<u32>(of_c[e]);
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      c[lane / 4 + 8 * (e / 2)][lane % 4 * 2 + e % 2] = float_of(words[lane]);
    }
  }
  for (u32 m = 0; m < 16; ++m) {
    double sums[8];
    std::copy_n(c[m], 8, sums);
    for (u32 k = 0; k < 16; ++k) {
      const double factor = a[m / 8 + k / 8 * 2][k % 2][m % 8 * 4 + k % 8 / 2];
      for (u32 n = 0; n < 8; ++n) sums[n] += factor * b[k][n];
    }
    std::copy_n(sums, 8, c[m]);
  }
  for (u32 e = 0; e < 4; ++e) {
    for (const u32 lane : set_bits(warp.mask)) {
      warp.out<u32>(d[e])[lane] = u32(code(Type::f32, c[lane / 4 + 8 * (e / 2)][lane % 4 * 2 + e % 2]));
    }
  }
}

}  // namespace cudasim
