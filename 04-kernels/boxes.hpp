// A box: 64 × 64 elements of a matrix in bfloat16, as a load of the TMA arranges them in shared memory. And what
// kernels that multiply boxes share: the product of one step, and the stores of its sums.
#pragma once
#include <cuda.h>

#include <cstddef>

constexpr int kBox = 64;                    // rows and columns of a box, so a row has 128 bytes
constexpr int kBoxBytes = kBox * kBox * 2;  // two bytes per element
constexpr int kGroup = 128;                 // threads of a warpgroup
using Box = unsigned char[kBoxBytes];

#ifdef __CUDACC__
#include "wgmma.hpp"

#include <cuda_bf16.h>

// The offset of 16 bytes of a box. In each row, the eight vectors of 16 bytes are permuted, so that the same vector of
// eight rows occupies all 32 banks.
__device__ inline int swizzled(int row, int vector) { return row * 128 + (vector ^ row % 8) * 16; }

// Multiplies a box of a by the columns of b, 64 products deep, in four instructions. If b is K-major, its boxes are
// below each other; otherwise they are side by side.
template <hopper::Major kB, int kSums>
__device__ void multiply(float (&sums)[kSums], const Box* a, const Box* b, bool accumulate) {
  const std::uint64_t matrix_a = hopper::matrix_descriptor(a), matrix_b = hopper::matrix_descriptor(b);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    // The elements for the next 16 products begin 32 bytes further in each row of a K-major matrix, and otherwise 16
    // rows of 128 bytes further. Descriptors count in units of 16 bytes.
    constexpr int kNext = kB == hopper::Major::kK ? 2 : 128;
    hopper::wgmma<kB>(sums, matrix_a + 2 * k, matrix_b + kNext * k, accumulate || k > 0);
  }
}

__device__ inline unsigned packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Stores a thread's sums to 64 rows of c: in two rows, two neighboring elements out of every eight columns. `c` is the
// first element, and `pitch` the number of elements from row to row.
template <int kSums>
__device__ void store_directly(const float (&sums)[kSums], __nv_bfloat16* c, int pitch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  __nv_bfloat16* const to = c + static_cast<std::size_t>(warp * 16 + lane / 4) * pitch + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    *reinterpret_cast<unsigned*>(to + i * 2) = packed(sums[i], sums[i + 1]);
    *reinterpret_cast<unsigned*>(to + i * 2 + std::size_t{8} * pitch) = packed(sums[i + 2], sums[i + 3]);
  }
}
#endif
