// Random numbers that are functions of a position, so that every run and every device has the same ones.
#pragma once

namespace verify {

__device__ inline unsigned hash(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// A random normal from 32 random bits (Box-Muller).
__device__ inline float normal(unsigned bits) {
  const float uniform = static_cast<float>((bits >> 8) + 1) * 0x1p-24f;               // in (0, 1]
  const float angle = static_cast<float>(hash(bits ^ 0x9e3779b9u) >> 8) * 0x1p-23f;  // in [0, 2), times pi
  return sqrtf(-2 * logf(uniform)) * cospif(angle);
}

}  // namespace verify
