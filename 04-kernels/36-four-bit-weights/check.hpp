// Compares all elements of y with sums in double precision.
#pragma once
#include "04-kernels/random.hpp"
#include "layout.hpp"

#include <cuda_bf16.h>

#include <cstddef>

// Random normals, each a function of its position.
extern "C" __global__ void fill(__nv_bfloat16* matrix, std::size_t count, unsigned seed) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
    matrix[i] = __float2bfloat16_rn(verify::normal(verify::hash(static_cast<unsigned>(i) ^ seed)));
  }
}

// An element of y in double precision, and how far a right result may be from it before it is rounded.
struct Exact {
  double sum, bound, bound_if_rounded;
};

// A warp computes an element from the plain weights. FP32 sums that begin at -136 times the sum of x lose at most 2^-14
// of what the sum would be if all weights were as large as possible. `bound_if_rounded`: for a kernel that rounds every
// weight to bfloat16.
extern "C" __global__ void reference(const FourBit p, Exact* exact) {
  const int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (at >= p.m * p.rows) return;
  const int m = at / p.rows, row = at % p.rows;
  const auto* const x = static_cast<const __nv_bfloat16*>(p.x) + static_cast<std::size_t>(m) * p.columns;
  double sum = 0, magnitude = 0, largest = 0;
  for (int column = 8 * lane; column < p.columns; column += 256) {
    const unsigned word = static_cast<const unsigned*>(p.weights)[plain_word(row, column, p.columns)];
    const double scale =
        __bfloat162float(static_cast<const __nv_bfloat16*>(p.scales)[scale_of(row, column, p.columns)]);
    for (int i = 0; i < 8; ++i) {
      const double scaled = scale * __bfloat162float(x[column + i]),
                   product = ((word >> bit_of(i) & 15) - 8.0) * scaled;
      sum += product, magnitude += fabs(product), largest += fabs(8 * scaled);
    }
  }
  for (int d = 1; d < 32; d *= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, d), magnitude += __shfl_xor_sync(0xffffffff, magnitude, d);
    largest += __shfl_xor_sync(0xffffffff, largest, d);
  }
  const double bound = 0x1p-14 * largest;
  if (lane == 0) exact[at] = {sum, bound, bound + 0x1p-9 * magnitude};
}

// Counts the wrong elements of y. Each is rounded to 8 bits.
extern "C" __global__ void compare(const FourBit p, const Exact* exact, bool rounded, unsigned* wrong) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= p.m * p.rows) return;
  const double found = __bfloat162float(static_cast<const __nv_bfloat16*>(p.y)[at]);
  const double bound = 0x1p-8 * fabs(found) + (rounded ? exact[at].bound_if_rounded : exact[at].bound);
  if (!(fabs(found - exact[at].sum) <= bound)) atomicAdd(wrong, 1);  // also if it is NaN
}
