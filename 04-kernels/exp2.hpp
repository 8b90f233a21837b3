// Powers of 2. They replace those of e in a softmax: e^x is 2^(x log2 e), and the factor can be part of the scale.
#pragma once

constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

__device__ inline float exp2_approximately(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
