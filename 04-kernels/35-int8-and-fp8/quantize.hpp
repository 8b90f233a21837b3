// Quantization: from bfloat16 to elements of 8 bits and their scales.
#pragma once
#include "format.hpp"

#include <cuda_bf16.h>

#include <cstddef>

// Two numbers become two elements, the first one in the lower byte. Larger numbers than the largest one become that.
template <Format kFormat>
__device__ unsigned short elements(float first, float second) {
  unsigned short pair;
  if constexpr (kFormat == Format::kE4m3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(first), "f"(second));
  } else {
    int low, high;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(low) : "f"(first));
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(high) : "f"(second));
    pair = static_cast<unsigned short>((low & 0xff) | high << 8);
  }
  return pair;
}

// By what the elements are multiplied before they are converted, and what undoes it. A row of zeros has a scale like
// one of tiny numbers, so that nothing is divided by zero. If an element is NaN or infinite, so is the scale.
struct Scale {
  float to, from;
};
template <Format kFormat>
__device__ Scale scale_for(float magnitude, bool power_of_two) {
  constexpr float kTiny = 0x1p-100f;
  if (magnitude < kTiny) magnitude = kTiny;
  if (power_of_two && isfinite(magnitude)) {
    int exponent;
    if (frexpf(magnitude / kLargest<kFormat>, &exponent) == 0.5f) --exponent;
    return {ldexpf(1, -exponent), ldexpf(1, exponent)};
  }
  return {kLargest<kFormat> / magnitude, magnitude / kLargest<kFormat>};
}

// fmaxf() would ignore a NaN.
__device__ inline float larger(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

// Converts the elements. `scales` gets what the sums must be multiplied by.
template <Format kFormat>
__device__ void quantize(const uint4* matrix, const Quantized& q, const float* magnitudes, bool power_of_two,
                         ushort4* to, float* scales) {
  const std::size_t all = std::size_t(q.rows) * q.columns / 8, threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += threads) {
    const int group = q.scale_of(static_cast<int>(i * 8 / q.columns), static_cast<int>(i * 8 % q.columns));
    const Scale scale = scale_for<kFormat>(magnitudes[group], power_of_two);
    const uint4 vector = matrix[i];
    const auto pair = [&](unsigned bits) {
      return elements<kFormat>(__uint_as_float(bits << 16) * scale.to, __uint_as_float(bits & 0xffff0000) * scale.to);
    };
    to[i] = {pair(vector.x), pair(vector.y), pair(vector.z), pair(vector.w)};
    scales[group] = scale.from;  // all threads of a group store the same number
  }
}
