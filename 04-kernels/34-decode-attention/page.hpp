// What a warp does with a page: it copies a page to shared memory, multiplies its rows of q by the keys, and weights by
// the values.
#pragma once
#include "04-kernels/tiles.hpp"
#include "shape.hpp"

// Four elements of e4m3, exactly as bfloat16: elements 0 and 1, and elements 2 and 3; or elements 0 and 2, and 1 and 3.
// The bits of an e4m3 number in the place of those of a bfloat16 are 2^-120 times the number.
__device__ inline unsigned widened(unsigned four, unsigned selector) {
  constexpr unsigned kFactor = 0x7b807b80u, kMinusZero = 0x80008000u;
  const unsigned high = __byte_perm(four, 0, selector);  // two elements, in the high halves of 16 bits
  unsigned pair = (high & 0x80008000u) | (high >> 4 & 0x07f007f0u);
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(pair), "r"(kFactor), "r"(kMinusZero));
  return pair;
}
struct Pairs {
  unsigned first[2], second[2];
};
// Of each of two registers: its first pair and its second one.
__device__ inline Pairs neighbors(unsigned a, unsigned b) {
  return {{widened(a, 0x1404), widened(a, 0x3424)}, {widened(b, 0x1404), widened(b, 0x3424)}};
}
__device__ inline Pairs alternating(unsigned a, unsigned b) {
  return {{widened(a, 0x2404), widened(b, 0x2404)}, {widened(a, 0x3414), widened(b, 0x3414)}};
}

// Starts to copy the rows of a page that belong to one head. Of these, `rows` exist. The others become zero: they may
// contain anything, and 0 × NaN is NaN.
template <class S>
__device__ void copy_page(unsigned to, const void* from, int rows) {
  constexpr int kColumns = S::kHead * S::kBytes / kElementBytes;
  constexpr int kAcross = kColumns / kVector, kRowStep = 32 / kAcross;
  const int row = lane() / kAcross, vector = lane() % kAcross;
#pragma unroll
  for (int i = 0; i < kPage; i += kRowStep) {
    const bool inside = row + i < rows;
    const int at = (inside ? row + i : 0) * kAcross + vector;
    ampere::cp_async_or_zero(to + offset<kColumns>(row + i, vector), static_cast<const uint4*>(from) + at, inside);
  }
}

template <class S>
using Queries = unsigned[S::kHead / kMma][4];
template <class S>
using Output = Sums<1, S::kHead>;
using Scores = Sums<1, kPage>;

// How many rows of q use a head together.
template <class S>
__device__ int rows_of(const Decode& p) {
  return S::kGrouped ? p.group : 1;
}

// Which column of a row of o is element number j of a lane's sums. With e4m3, the columns are in a different order,
// because that is how the values are loaded.
template <class S>
__device__ int column(int j) {
  return S::kBytes == 2 ? Output<S>::column(j) : j / 4 * kMma + lane() % 4 * 4 + j % 2 * 2 + j / 2 % 2;
}

// Loads the rows of q, at most 16, as left operands. Rows that do not exist are zero. With e4m3, the columns are in the
// order in which the keys are loaded: a scalar product may add its products in any order.
template <class S>
__device__ void load_queries(Queries<S>& to, const __nv_bfloat16* q, int rows) {
#pragma unroll
  for (int k = 0; k < S::kHead / kMma; ++k) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = lane() / 4 + r % 2 * 8;
      const int at = k * kMma + (S::kBytes == 2 ? lane() % 4 * 2 + r / 2 * 8 : lane() % 4 * 4 + r / 2 * 2);
      to[k][r] = row < rows ? *reinterpret_cast<const unsigned*>(q + row * S::kHead + at) : 0;
    }
  }
}

// scores += q × the transpose of a page of keys
template <class S>
__device__ void multiply(Scores& scores, const Queries<S>& q, unsigned keys) {
  if constexpr (S::kBytes == 2) {
#pragma unroll
    for (int k = 0; k < S::kHead / kMma; ++k) {
      unsigned b[2][2];
      ampere::ldmatrix_x4(b, shifted<S::kHead>(right<S::kHead>(keys), 0, k));
      ampere::mma(scores.at[0][0][0], q[k], b[0]);
      ampere::mma(scores.at[0][0][1], q[k], b[1]);
    }
  } else {
    constexpr int kColumns = S::kHead / kElementBytes;
#pragma unroll
    for (int k = 0; k < S::kHead / kMma; k += 2) {
      unsigned b[4];
      ampere::ldmatrix_x4(b, shifted<kColumns>(left<kColumns>(keys), 0, k / 2));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Pairs pairs = neighbors(b[2 * i], b[2 * i + 1]);
        ampere::mma(scores.at[0][0][0], q[k + i], pairs.first);
        ampere::mma(scores.at[0][0][1], q[k + i], pairs.second);
      }
    }
  }
}

// output += weights × a page of values
template <class S>
__device__ void accumulate(Output<S>& output, const unsigned (&weights)[1][4], unsigned values) {
  if constexpr (S::kBytes == 2) {
    multiply_part(output, weights, values, 0);
  } else {
    constexpr int kColumns = S::kHead / kElementBytes;
#pragma unroll
    for (int j = 0; j < output.kAcross; j += 2) {
      unsigned b[4];
      ampere::ldmatrix_x4_trans(b, shifted<kColumns>(left<kColumns>(values), 0, j / 2));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Pairs pairs = alternating(b[2 * i], b[2 * i + 1]);
        ampere::mma(output.at[0][j + i][0], weights[0], pairs.first);
        ampere::mma(output.at[0][j + i][1], weights[0], pairs.second);
      }
    }
  }
}
