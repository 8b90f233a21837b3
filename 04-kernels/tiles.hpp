// Tiles of bfloat16 in shared memory, and the fragments that a warp loads from them. Included by several lessons.
#pragma once
#include "04-kernels/ampere.hpp"

#include <cstddef>

constexpr int kElementBytes = 2;  // bfloat16
constexpr int kVectorBytes = 16, kVector = kVectorBytes / kElementBytes;
constexpr int kMma = 16;  // the mma instruction multiplies 16 rows, 16 deep, by 8 columns

__device__ inline int lane() { return threadIdx.x % 32; }
__device__ inline int warp() { return threadIdx.x / 32; }

// The offset of a vector of 16 bytes in a tile with this many columns. The vectors are swizzled: the same vector of
// eight consecutive rows is in all 32 banks, even if two rows of 32 elements share them.
template <int kColumns>
__device__ int offset(int row, int vector) {
  static_assert(kColumns == 32 || kColumns % 64 == 0);
  return row * kColumns * kElementBytes + (vector ^ (kColumns == 32 ? row / 2 % 4 : row % 8)) * kVectorBytes;
}

// Starts to copy a tile of kRows × kColumns elements. Of these, `rows` exist; the others become zero.
template <int kRows, int kColumns, int kThreads>
__device__ void copy_tile(unsigned to, const __nv_bfloat16* from, std::size_t pitch, int rows) {
  constexpr int kAcross = kColumns / kVector, kRowStep = kThreads / kAcross;
  static_assert(kRowStep % 8 == 0 && kRows % kRowStep == 0, "all vectors of a thread are swizzled in the same way");
  const int row = threadIdx.x / kAcross, vector = threadIdx.x % kAcross;
  const __nv_bfloat16* const first = from + row * pitch + vector * kVector;
  to += offset<kColumns>(row, vector);
  if (rows >= kRows) {
#pragma unroll
    for (int i = 0; i < kRows; i += kRowStep) ampere::cp_async(to + i * kColumns * kElementBytes, first + i * pitch);
  } else {
#pragma unroll
    for (int i = 0; i < kRows; i += kRowStep) {
      const bool inside = row + i < rows;
      ampere::cp_async_or_zero(to + i * kColumns * kElementBytes, inside ? first + i * pitch : from, inside);
    }
  }
}

// The address of what a lane passes to ldmatrix, for a fragment that is `down` × 16 rows below and `across` × 16
// columns right of the one at `address`. Both are in one tile, which begins at a multiple of the length of a row.
template <int kColumns>
__device__ unsigned shifted(unsigned address, int down, int across) {
  return (address ^ across * kMma * kElementBytes) + down * kMma * kColumns * kElementBytes;
}

// The addresses for the first fragment of a tile, as the left operand or as a right one that is stored by rows, and as
// a right operand that is stored by columns.
template <int kColumns>
__device__ unsigned left(unsigned tile) {
  return tile + offset<kColumns>(lane() % 16, lane() / 16);
}
template <int kColumns>
__device__ unsigned right(unsigned tile) {
  return tile + offset<kColumns>(lane() / 16 * 8 + lane() % 8, lane() / 8 % 2);
}

// The part of a matrix of sums that a warp computes: kDown × 16 rows. A lane has some elements of kRows of these rows.
template <int kDown, int kColumns>
struct Sums {
  static constexpr int kAcross = kColumns / kMma, kRows = 2 * kDown, kEach = kColumns / 4;
  float at[kDown][kAcross][2][4] = {};  // of each mma, as ampere.hpp describes them

  // Element number j of the lane's row number i, and which row and column this is.
  __device__ float& of_row(int i, int j) { return at[i / 2][j / 4][j / 2 % 2][i % 2 * 2 + j % 2]; }
  __device__ float of_row(int i, int j) const { return at[i / 2][j / 4][j / 2 % 2][i % 2 * 2 + j % 2]; }
  __device__ static int row(int i) { return i * 8 + lane() / 4; }
  __device__ static int column(int j) { return j / 2 * 8 + lane() % 4 * 2 + j % 2; }
};

// A lane's sums of a warp's 16 rows as one array, in the order in which wgmma has them.
template <int kColumns>
__device__ auto& registers(Sums<1, kColumns>& sums) {
  return reinterpret_cast<float (&)[kColumns / 2]>(sums.at);
}

// sums += a × the transpose of a tile, whose rows have kDepth elements. `rows` is the address of the first fragment of
// a.
template <int kDepth, int kDown, int kColumns>
__device__ void multiply_transposed(Sums<kDown, kColumns>& sums, unsigned rows, unsigned tile) {
#pragma unroll
  for (int k = 0; k < kDepth / kMma; ++k) {
    unsigned a[kDown][4];
#pragma unroll
    for (int i = 0; i < kDown; ++i) ampere::ldmatrix_x4(a[i], shifted<kDepth>(rows, i, k));
#pragma unroll
    for (int j = 0; j < sums.kAcross; ++j) {
      unsigned b[2][2];
      ampere::ldmatrix_x4(b, shifted<kDepth>(right<kDepth>(tile), j, k));
#pragma unroll
      for (int i = 0; i < kDown * 2; ++i) ampere::mma(sums.at[i / 2][j][i % 2], a[i / 2], b[i % 2]);
    }
  }
}

// sums += a × rows 16 k to 16 k + 15 of a tile
template <int kDown, int kColumns>
__device__ void multiply_part(Sums<kDown, kColumns>& sums, const unsigned (&a)[kDown][4], unsigned tile, int k) {
#pragma unroll
  for (int j = 0; j < sums.kAcross; ++j) {
    unsigned b[2][2];
    ampere::ldmatrix_x4_trans(b, shifted<kColumns>(left<kColumns>(tile), k, j));
#pragma unroll
    for (int i = 0; i < kDown * 2; ++i) ampere::mma(sums.at[i / 2][j][i % 2], a[i / 2], b[i % 2]);
  }
}

// Combines a value of each of the four lanes that have elements of the same rows.
__device__ inline float largest_of_four(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffff, value, 2));
}
__device__ inline float sum_of_four(float value) {
  value += __shfl_xor_sync(0xffffffff, value, 1);
  return value + __shfl_xor_sync(0xffffffff, value, 2);
}

// Sixteen columns of sums, from column 16 k on, as the left operand of an mma. Each lane already has the right ones.
template <int kDown, int kColumns>
__device__ void as_operand(unsigned (&to)[kDown][4], const Sums<kDown, kColumns>& sums, int k) {
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float (&from)[4] = sums.at[i][k][r / 2];
      to[i][r] = ampere::packed(from[r % 2 * 2], from[r % 2 * 2 + 1]);
    }
  }
}

// Stores a warp's sums in bfloat16 to a tile in shared memory, from the row at `tile` on.
template <int kDown, int kColumns>
__device__ void store_in_tile(const Sums<kDown, kColumns>& sums, unsigned tile) {
#pragma unroll
  for (int i = 0; i < sums.kRows; ++i) {
#pragma unroll
    for (int j = 0; j < sums.kEach; j += 2) {
      const unsigned pair = ampere::packed(sums.of_row(i, j), sums.of_row(i, j + 1));
      ampere::store_shared(tile + offset<kColumns>(sums.row(i), j / 2) + lane() % 4 * 4, pair);
    }
  }
}

// Stores a warp's sums to a matrix in bfloat16 that has kColumns columns, and `rows` rows from the warp's first row on.
// A lane has two neighboring columns out of every eight; after an exchange, it has all eight.
template <int kDown, int kColumns>
__device__ void store(const Sums<kDown, kColumns>& sums, __nv_bfloat16* to, int rows) {
#pragma unroll
  for (int i = 0; i < sums.kRows; ++i) {
#pragma unroll
    for (int j = 0; j < sums.kEach; j += 8) {
      unsigned pairs[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) pairs[t] = ampere::packed(sums.of_row(i, j + 2 * t), sums.of_row(i, j + 2 * t + 1));
      ampere::transpose(pairs, lane());
      auto* const row = reinterpret_cast<uint4*>(to + sums.row(i) * kColumns + j * 4 + lane() % 4 * kVector);
      if (sums.row(i) < rows) *row = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
  }
}
