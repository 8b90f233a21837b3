// Kernels that fill matrices, compute a reference product, and compare all elements of a result with it.
#pragma once
#include "reference.hpp"

#include <cuda_bf16.h>

#include <cstdint>

namespace verify {

__device__ inline unsigned hash(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

constexpr int kSide = kReferenceSide;
constexpr int kEach = 8;    // a thread computes 8 × 8 elements
constexpr int kDepth = 16;  // products per step
static_assert(kSide / kEach * (kSide / kEach) == kReferenceThreads);

}  // namespace verify

// Fills a matrix with integers from -8 to 8 or with random normals (Box-Muller), each a function of its position.
extern "C" __global__ void fill(__nv_bfloat16* matrix, std::size_t count, unsigned seed, bool normal) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const unsigned first = verify::hash(static_cast<unsigned>(i) ^ seed), second = verify::hash(first ^ 0x9e3779b9u);
    const float uniform = static_cast<float>((first >> 8) + 1) * 0x1p-24f;  // in (0, 1]
    const float angle = static_cast<float>(second >> 8) * 0x1p-23f;         // in [0, 2), times pi
    const float integer = static_cast<float>(static_cast<int>(first % 17) - 8);
    matrix[i] = __float2bfloat16_rn(normal ? sqrtf(-2 * logf(uniform)) * cospif(angle) : integer);
  }
}

// sums = a × b in FP32. lengths = the length of a's row times the length of b's column, which no sum of the absolute
// values of the products exceeds.
extern "C" __global__ void __launch_bounds__(kReferenceThreads)
    reference(const __nv_bfloat16* a, const __nv_bfloat16* b, float* sums, float* lengths, int n) {
  using namespace verify;
  __shared__ float tile_a[kDepth][kSide + 1], tile_b[kDepth][kSide];
  const int x = threadIdx.x % (kSide / kEach), y = threadIdx.x / (kSide / kEach);
  const std::size_t top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  float sum[kEach][kEach] = {}, squares_a[kEach] = {}, squares_b[kEach] = {};
  for (int first = 0; first < n; first += kDepth) {
    for (int i = threadIdx.x; i < kSide * kDepth; i += kReferenceThreads) {
      tile_a[i % kDepth][i / kDepth] = __bfloat162float(a[(top + i / kDepth) * n + first + i % kDepth]);
      tile_b[i / kSide][i % kSide] = __bfloat162float(b[std::size_t(first + i / kSide) * n + left + i % kSide]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float of_a[kEach], of_b[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        of_a[i] = tile_a[k][y * kEach + i], of_b[i] = tile_b[k][x + i * (kSide / kEach)];
        squares_a[i] += of_a[i] * of_a[i], squares_b[i] += of_b[i] * of_b[i];
      }
#pragma unroll
      for (int i = 0; i < kEach * kEach; ++i) sum[i / kEach][i % kEach] += of_a[i / kEach] * of_b[i % kEach];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach * kEach; ++i) {
    const std::size_t at = (top + y * kEach + i / kEach) * n + left + x + i % kEach * (kSide / kEach);
    sums[at] = sum[i / kEach][i % kEach];
    lengths[at] = sqrtf(squares_a[i / kEach] * squares_b[i % kEach]);
  }
}

// Counts the wrong elements of c. Sums of integers are exact, so c must be the rounded sum. For other sums, each of the
// n additions may have a relative error of 2^-23, on either side; rounding c to 8 bits adds 2^-8 of its value.
extern "C" __global__ void compare(const __nv_bfloat16* c, const float* sums, const float* lengths, int n, bool exact,
                                   unsigned* wrong) {
  const std::size_t count = std::size_t(n) * n, threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const float value = __bfloat162float(c[i]), expected = __bfloat162float(__float2bfloat16_rn(sums[i]));
    const float bound = static_cast<float>(n) * 0x1p-22f * lengths[i] + 0x1p-8f * fabsf(value);
    const bool right = exact ? value == expected : fabsf(value - sums[i]) <= bound;  // false for NaN
    if (!right) atomicAdd(wrong, 1);
  }
}
