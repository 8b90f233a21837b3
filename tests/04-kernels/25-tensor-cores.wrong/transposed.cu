// Rejected with: "one tile in one step: every element is right"
// Multiply x by the transpose of w on the tensor cores: the product of a linear layer, whose weights are stored row by
// row for each output.
#include "04-kernels/ampere.hpp"

#include <cstddef>

constexpr int kTile = 64;                                   // rows and columns of y that a block computes
constexpr int kDepth = 64;                                  // products of each sum per step
constexpr int kThreads = 128;                               // four warps, which compute 32 × 32 elements of y each
using Tile = char[kTile * kDepth * sizeof(__nv_bfloat16)];  // of x or of w, 128 bytes in each row

// The offset of the vector of 16 bytes that is stored as number `vector` of a row. The vectors are swizzled.
__device__ int offset(int row, int vector) { return row * 128 + (vector ^ row % 8) * 16; }

// Starts to copy 64 rows of 64 elements to shared memory, from column k on. Elements beyond `inner` become zero.
__device__ void copy(Tile& to, const __nv_bfloat16* from, int first_row, int k, int inner) {
  const unsigned tile = ampere::shared_address(to);
  for (int i = threadIdx.x; i < kTile * 8; i += kThreads) {
    const int row = i / 8, vector = i % 8, column = k + vector * 8;
    const bool inside = column < inner;
    const __nv_bfloat16* const source = from + static_cast<std::size_t>(first_row + row) * inner + column;
    ampere::cp_async_or_zero(tile + offset(row, vector), inside ? source : from, inside);
  }
}

// Stores a warp's sums to y. `sums[i][j]`: 16 rows from `row` + 16 i on, 8 columns from `column` + 8 j on.
__device__ void store(const float (&sums)[2][4][4], __nv_bfloat16* y, int row, int column, int columns) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int half = 0; half < 2; ++half) {
        const int at = row + 16 * i + 8 * half + lane / 4;
        *reinterpret_cast<__nv_bfloat162*>(y + static_cast<std::size_t>(at) * columns + column + 8 * j + lane % 4 * 2) =
            __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
    }
  }
}

// y[r][c] = the sum of x[r][k] * w[c][k] over all k < inner. x has `inner` columns, w too, and y has `columns`. Rows
// and columns of y are multiples of 64, and `inner` is a multiple of 8. Block (bx, by) computes the tile whose first
// row is 64 by, and whose first column is 64 bx.
extern "C" __global__ void __launch_bounds__(kThreads)
    linear(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int columns, int inner) {
  __shared__ __align__(128) Tile tiles_x[2], tiles_w[2];
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp / 2 * 32, column = warp % 2 * 32;  // where the warp's part of the tile of y begins
  float sums[2][4][4] = {};
  const int steps = (inner + kDepth - 1) / kDepth;
  const auto copy_step = [&](int step) {
    copy(tiles_x[step % 2], x, first_row, step * kDepth, inner);
    copy(tiles_w[step % 2], w, first_column, step * kDepth, inner);
    ampere::cp_async_commit();
  };
  if (steps > 0) copy_step(0);
  for (int step = 0; step < steps; ++step) {
    ampere::cp_async_wait<0>();
    __syncthreads();
    if (step + 1 < steps) copy_step(step + 1);
    const unsigned tile_x = ampere::shared_address(tiles_x[step % 2]);
    const unsigned tile_w = ampere::shared_address(tiles_w[step % 2]);
    for (int k = 0; k < kDepth / 16; ++k) {
      unsigned a[2][4], b[2][2][2];
      for (int i = 0; i < 2; ++i) {
        ampere::ldmatrix_x4(a[i], tile_x + offset(row + 16 * i + lane % 16, 2 * k + lane / 16));
      }
      for (int j = 0; j < 2; ++j) {  // 16 rows of w, which are columns of y
        ampere::ldmatrix_x4_trans(b[j],
                                  tile_w + offset(column + 16 * j + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) ampere::mma(sums[i][j], a[i], b[j / 2][j % 2]);
      }
    }
  }
  store(sums, y, first_row + row, first_column + column, columns);
}
