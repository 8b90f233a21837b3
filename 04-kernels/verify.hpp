// Kernels that fill matrices, compute a reference product, and compare all elements of a result with it.
#pragma once
#include "04-kernels/random.hpp"
#include "reference.hpp"

#include <cuda_bf16.h>

#include <cstdint>

namespace verify {

constexpr int kSide = kReferenceSide;
constexpr int kEach = 8;    // a thread computes 8 × 8 elements
constexpr int kDepth = 16;  // products per step
static_assert(kSide / kEach * (kSide / kEach) == kReferenceThreads);

}  // namespace verify

// Fills a matrix with integers from -8 to 8 or with random normals, each a function of its position.
extern "C" __global__ void fill(__nv_bfloat16* matrix, std::size_t count, unsigned seed, bool normal) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const unsigned bits = verify::hash(static_cast<unsigned>(i) ^ seed);
    const float integer = static_cast<float>(static_cast<int>(bits % 17) - 8);
    matrix[i] = __float2bfloat16_rn(normal ? verify::normal(bits) : integer);
  }
}

// sums = a × b in FP32, rows × columns elements, `inner` products each. `transposed`: b is stored by columns, as the
// weights of a linear layer are. lengths = the length of a's row times the length of b's column, which no sum of the
// absolute values of the products exceeds. `columns` is a multiple of 128, and `inner` of 16.
extern "C" __global__ void __launch_bounds__(kReferenceThreads)
    reference(const __nv_bfloat16* a, const __nv_bfloat16* b, float* sums, float* lengths, int rows, int columns,
              int inner, bool transposed) {
  using namespace verify;
  __shared__ float tile_a[kDepth][kSide + 1], tile_b[kDepth][kSide + 1];
  const int x = threadIdx.x % (kSide / kEach), y = threadIdx.x / (kSide / kEach);
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  float sum[kEach][kEach] = {}, squares_a[kEach] = {}, squares_b[kEach] = {};
  for (int first = 0; first < inner; first += kDepth) {
    for (int i = threadIdx.x; i < kSide * kDepth; i += kReferenceThreads) {
      const int row = i / kDepth, k = i % kDepth;
      const bool inside = top + row < rows;
      tile_a[k][row] = inside ? __bfloat162float(a[std::size_t(top + row) * inner + first + k]) : 0;
      if (transposed) {
        tile_b[k][row] = __bfloat162float(b[std::size_t(left + row) * inner + first + k]);
      } else {
        tile_b[i / kSide][i % kSide] = __bfloat162float(b[std::size_t(first + i / kSide) * columns + left + i % kSide]);
      }
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
    const int row = top + y * kEach + i / kEach;
    if (row >= rows) continue;
    const std::size_t at = std::size_t(row) * columns + left + x + i % kEach * (kSide / kEach);
    sums[at] = sum[i / kEach][i % kEach];
    lengths[at] = sqrtf(squares_a[i / kEach] * squares_b[i % kEach]);
  }
}

// Counts the wrong elements of c. Sums of integers are exact, so c must be the rounded sum. For other sums, each of the
// `inner` additions may have a relative error of 2^-23, on either side; rounding c to 8 bits adds 2^-8 of its value.
extern "C" __global__ void compare(const __nv_bfloat16* c, const float* sums, const float* lengths, std::size_t count,
                                   int inner, bool exact, unsigned* wrong) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    const float value = __bfloat162float(c[i]), expected = __bfloat162float(__float2bfloat16_rn(sums[i]));
    const float bound = static_cast<float>(inner) * 0x1p-22f * lengths[i] + 0x1p-8f * fabsf(value);
    const bool right = exact ? value == expected : fabsf(value - sums[i]) <= bound;  // false for NaN
    if (!right) atomicAdd(wrong, 1);
  }
}
