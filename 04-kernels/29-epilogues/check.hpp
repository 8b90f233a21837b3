// Compares whole results with epilogues that are computed from the sums of the reference.
#pragma once
#include "epilogues.hpp"

// Makes the elements of a matrix smaller. With a power of two, this is exact.
extern "C" __global__ void scale(__nv_bfloat16* matrix, std::size_t count, float factor) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    matrix[i] = __float2bfloat16_rn(__bfloat162float(matrix[i]) * factor);
  }
}

struct Expected {
  float value;
  float slope;  // how much an error of the sums changes it, at most
};

__device__ inline Expected expected(Epilogue epilogue, const float* sums, float scale, const Linear& p, std::size_t i) {
  const auto at = [](const void* matrix, std::size_t element) {
    return __bfloat162float(static_cast<const __nv_bfloat16*>(matrix)[element]);
  };
  if (epilogue == Epilogue::kSwiGlu) {
    const float gate = sums[2 * i] * scale, up = sums[2 * i + 1] * scale, factor = gate / (1 + expf(-gate));
    return {factor * up, 1.1f * fabsf(up) + fabsf(factor)};
  }
  const float sum = sums[i] * scale;
  if (epilogue == Epilogue::kResidual) return {sum + at(p.residual, i), 1};
  if (epilogue == Epilogue::kNone) return {sum, 1};
  const float x = sum + at(p.bias, i % p.columns);
  return {0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))), 1.13f};
}

// Counts the wrong elements of p.c. Sums of integers are exact; for others, each of the p.inner additions may have a
// relative error of 2^-23 on either side. Rounding c adds 2^-8 of its value, and where the product was `stored` before,
// rounding the product adds as much.
extern "C" __global__ void check(Epilogue epilogue, const Linear p, const float* sums, const float* lengths,
                                 float scale, bool exact, bool stored, unsigned* wrong) {
  const int each = epilogue == Epilogue::kSwiGlu ? 2 : 1;  // columns of the product for one of c
  const std::size_t count = std::size_t(p.rows) * p.columns / each, threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const Expected right = expected(epilogue, sums, scale, p, i);
    float of_sum = 0;
    for (std::size_t j = i * each; j < (i + 1) * each; ++j) {
      if (!exact) of_sum = fmaxf(of_sum, static_cast<float>(p.inner) * 0x1p-22f * lengths[j] * scale);
      if (stored) of_sum = fmaxf(of_sum, of_sum + 0x1p-8f * fabsf(sums[j] * scale));
    }
    const float value = __bfloat162float(static_cast<const __nv_bfloat16*>(p.c)[i]);
    const float bound = right.slope * of_sum + 0x1p-8f * fabsf(right.value) + 1e-6f;
    if (!(fabsf(value - right.value) <= bound)) atomicAdd(wrong, 1);  // also if the value is NaN
  }
}
