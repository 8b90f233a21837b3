// What a warp does with a page: it copies a page to shared memory, multiplies its rows of q by the keys, and weights by
// the values.
#pragma once
#include "04-kernels/tiles.hpp"
#include "shape.hpp"

// Bytes 1 and 3 of a register, which are e4m3, exactly as bfloat16. Both formats have the sign first, then the
// exponent. The bits of an e4m3 number, moved to the right until its exponent ends where that of a bfloat16 ends, are
// 2^-120 times the number.
__device__ inline unsigned widened(unsigned bytes) {
  constexpr unsigned kFactors = 0x7b807b80u, kMinusZeros = 0x80008000u;
  unsigned pair = (bytes & 0x80008000u) | (bytes >> 4 & 0x07f007f0u);
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(pair), "r"(kFactors), "r"(kMinusZeros));
  return pair;
}

// Starts to copy 16 bytes, or writes zeros if not `inside`. A decode kernel uses keys and values once, so they are the
// first that the L2 cache may evict.
__device__ inline void cp_async_once(unsigned to, const void* from, bool inside) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0), "l"(policy)
               : "memory");
}

// Starts to copy the rows of a page that belong to one head. Of these, `rows` exist. The others become zero: they may
// contain anything, and 0 × NaN is NaN.
template <class S>
__device__ void copy_page(unsigned to, const void* from, int rows) {
  constexpr int kColumns = S::kHead * S::kBytes / kElementBytes;
  constexpr int kAcross = kColumns / kVector, kRowStep = 32 / kAcross;
  const int row = lane() / kAcross, vector = lane() % kAcross;
  const auto* const first = static_cast<const uint4*>(from) + row * kAcross + vector;
  if (rows >= kPage) {
#pragma unroll
    for (int i = 0; i < kPage; i += kRowStep) {
      cp_async_once(to + offset<kColumns>(row + i, vector), first + i * kAcross, true);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPage; i += kRowStep) {
      const bool inside = row + i < rows;
      cp_async_once(to + offset<kColumns>(row + i, vector), inside ? first + i * kAcross : from, inside);
    }
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

// Loads the rows of q, at most 16, as left operands. Rows that do not exist are zero. With e4m3, the columns are in a
// different order, in which keys are loaded: a scalar product may add its products in any order.
template <class S>
__device__ void load_queries(Queries<S>& to, const __nv_bfloat16* q, int rows) {
#pragma unroll
  for (int k = 0; k < S::kHead / kMma; ++k) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = lane() / 4 + i * 8;
      const auto* const pairs = reinterpret_cast<const unsigned*>(q + row * S::kHead + k * kMma);
      const int at = S::kBytes == 2 ? lane() % 4 : lane() % 4 * 2, next = at + (S::kBytes == 2 ? 4 : 1);
      const unsigned a = row < rows ? pairs[at] : 0, b = row < rows ? pairs[next] : 0;
      to[k][i] = S::kBytes == 2 ? a : __byte_perm(a, b, 0x5410);
      to[k][i + 2] = S::kBytes == 2 ? b : __byte_perm(a, b, 0x7632);
    }
  }
}

// scores = q × the transpose of a page of keys. There are two sums for each score, because an mma has to wait for the
// one before it with the same sums.
template <class S>
__device__ void multiply(Scores& scores, const Queries<S>& q, unsigned keys) {
  Scores sums[2];
  if constexpr (S::kBytes == 2) {
#pragma unroll
    for (int k = 0; k < S::kHead / kMma; ++k) {
      unsigned b[2][2];
      ampere::ldmatrix_x4(b, shifted<S::kHead>(right<S::kHead>(keys), 0, k));
      ampere::mma(sums[k % 2].at[0][0][0], q[k], b[0]);
      ampere::mma(sums[k % 2].at[0][0][1], q[k], b[1]);
    }
  } else {
    constexpr int kColumns = S::kHead / kElementBytes;
#pragma unroll
    for (int k = 0; k < S::kHead / kMma; k += 2) {
      unsigned b[4];
      ampere::ldmatrix_x4(b, shifted<kColumns>(left<kColumns>(keys), 0, k / 2));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const unsigned four = b[2 * i + half];
          ampere::mma(sums[i].at[0][0][half], q[k + i], {widened(four << 8), widened(four)});
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) scores.of_row(i / 4, i % 4) = sums[0].of_row(i / 4, i % 4) + sums[1].of_row(i / 4, i % 4);
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
        const unsigned low = b[2 * i], high = b[2 * i + 1];  // keys 0 to 7, and 8 to 15
        ampere::mma(output.at[0][j + i][0], weights[0], {widened(low << 8), widened(high << 8)});
        ampere::mma(output.at[0][j + i][1], weights[0], {widened(low), widened(high)});
      }
    }
  }
}
